// Ranks that hang because they wait for each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/diagnose/hung_operations.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer::hang {

// One rank of a circle, and the operation in which it waits for the next one; the last waits for the first.
struct CircleMember {
  std::int32_t rank = kNoRank;
  OperationKey key;
};

// The circle that begins with the operation of this key: who waits in it, for whom it lacks, what that one
// waits in, and so on back to the first. Empty where somebody lacks more than one rank, or who is lacking
// waits in no operation: then that one is the cause.
std::vector<CircleMember> circle_from(const Job& job, const HungOperations& hung, const OperationKey& key);

// "ranks 0, 1 wait for each other: rank 0 waits in recv from rank 1 (group pp); rank 1 waits in recv from
// rank 0 (group pp)"
std::string describe_circle(const Job& job, const HungOperations& hung,
                            const std::vector<CircleMember>& circle);
// What to do about it.
std::string remedy_of_circle(const std::vector<CircleMember>& circle);

}  // namespace lockstep::analyzer::hang

// The operations in which a job hung: which ranks are in them, and which never came.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/diagnose/unanswered.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

struct HungRank {
  std::size_t rank = 0;  // index into Job::ranks
  OpenOperation operation;
  Nanoseconds waited = 0;
  bool gave_up = false;  // it ended, by a timeout of its own: its group was never whole
};

// One operation over ranks; a message of its two sides only.
struct HungOperation {
  Nanoseconds since = 0;  // the first rank came
  std::vector<HungRank> waiting;
};

using HungOperations = std::map<OperationKey, HungOperation>;

// Those that were open when the recorder noted a hang, or much longer than any before where nobody did; and,
// of a job whose hang was noted, those that some rank never came to and the others gave up.
HungOperations find_hung_operations(const Job& job);

// The ranks that the operation waits for: of its group, and neither in it nor through it.
std::vector<std::int32_t> missing_ranks(const Job& job, const OperationKey& key, const HungOperation& hung);

}  // namespace lockstep::analyzer

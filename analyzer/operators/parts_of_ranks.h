// The part times of a rank and of those that it is compared with.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/model/job.h"
#include "analyzer/operators/part_times.h"

namespace lockstep::analyzer {

struct SlowPartQuestion {
  std::int32_t rank = 0;            // the one that computes longer
  std::vector<std::int32_t> ranks;  // all that are compared, it among them
  std::vector<std::int64_t> steps;  // their numbers
  std::int64_t others_ns = 0;       // how long the others compute in a step (median) …
  std::int64_t excess_ns = 0;       // … and by how much longer the rank does, in the mean of the steps
};

// [0] is the rank in question. Of more than 16 other ranks 16 are looked at, evenly chosen. Empty where of
// one of them nothing is known, where some have modules and others have operators alone (a profile
// `with_stack` of one rank), or where there is nothing to compare.
std::vector<PartTimes> parts_of_ranks(const Job& job, const SlowPartQuestion& question);

}  // namespace lockstep::analyzer

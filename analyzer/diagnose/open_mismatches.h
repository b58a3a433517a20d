// Collectives that some rank never ended, and in which ranks of one group do not do the same under one
// recorded number: matching sees records alone, of operations that ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/match/match.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// What one rank did under the number.
struct NumberedCall {
  std::size_t rank = 0;  // index into Job::ranks
  Operation operation = Operation::unknown;
  std::int64_t bytes = -1;  // -1: not known
  Nanoseconds begin = 0;
  bool open = false;  // it never ended
};

struct OpenMismatch {
  std::uint32_t group = 0;  // Matching::groups
  std::int64_t sequence = kNoSequence;
  std::vector<NumberedCall> calls;  // by rank; each rank once
  // None of these ranks ended any later operation of the group: what ended the job, or made it hang, is this.
  bool nobody_got_further = false;
};

// Operations, and sizes where these have to be equal (of all-reduces, broadcasts and reductions). Of groups
// whose numbers count all collectives and under which ranks have met before; of numbers under which each rank
// has one operation alone. Those of which the records alone show it are in Matching::contradictions. In the
// order of groups and numbers.
std::vector<OpenMismatch> find_open_mismatches(const Job& job, const Matching& matching);

}  // namespace lockstep::analyzer

// What the records say of clocks: of two readings of different clocks, which was no later than which.
//
// Every operation that has to hear from another rank ends nowhere before that rank arrived (Lamport's
// happened-before). Definitions: docs/metrics.md, "One clock for all ranks".
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "analyzer/match/match.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// When clock `earlier_clock` showed `earlier`, clock `later_clock` showed `later` or less.
struct Precedence {
  std::uint32_t earlier_clock = 0;
  std::uint32_t later_clock = 0;
  Nanoseconds earlier = 0;
  Nanoseconds later = 0;
};

// Of all matches between ranks of different clocks. `clock_of_rank`: by index in Job::ranks. Only what holds
// whatever the library does: a collective that needs everybody's data ends after everybody arrived, a
// receive after its send began, a broadcast after its root arrived, a reduction's root after everybody.
// (A send may end before its receive begins: small ones are buffered.) Times are loosened by the coarser of
// the two ranks' resolutions.
//
// Of a collective over up to 4 clocks every pair is there; over more, each with the one of the lowest number,
// which all others meet in: their number stays linear in the records'.
std::vector<Precedence> find_precedences(const Job& job, const Matching& matching,
                                         std::span<const std::uint32_t> clock_of_rank,
                                         const std::stop_token& stop = {});

}  // namespace lockstep::analyzer

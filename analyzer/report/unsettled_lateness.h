// A rank that may be late, and that the steps recorded do not settle: to be said as open, neither denied nor
// blamed.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

struct UnsettledLateness {
  const RankLateness* rank = nullptr;
  // About so many would settle it, should it stay as it is; 0 where as many were recorded already.
  std::int64_t steps_wanted = 0;
  // It is late by no more than the clocks leave open: no number of steps tells.
  bool within_clock_error = false;
};

// The latest rank in the mean of steps, where none is judged late: of those that are late by 2 % of a step or
// more, as consistently as healthy ranks are in 1 of 50 runs at most.
std::optional<UnsettledLateness> unsettled_lateness(const LatenessReport& lateness);

// How late a rank has to be to stand out of the steps that there are, in 95 of 100 runs: a share of a step,
// 0.03 or more. It is what `steps_to_tell` says for 3 %, by the root of the number of steps, and more rather
// than less where the least lateness that matters decides. Precondition: there are steps.
double lateness_that_shows(const LatenessReport& lateness);

}  // namespace lockstep::analyzer

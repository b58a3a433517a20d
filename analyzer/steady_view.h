// A report of steady training alone, made of one of the whole run, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// What a view of the steady steps leaves out.
struct NotSteady {
  std::vector<RankReport> ranks;  // over the whole window
  std::vector<StepReport> steps;
  std::vector<CollectiveReport> collectives;
};

// Leaves of steps[] and collectives[] those of the steady steps, and of ranks[] the figures over them;
// returns the rest. Nothing changes where the report has no steady part. Everything else of it is over the
// steady steps already. Linear; nothing is copied.
NotSteady keep_steady(Report& report);
// Analysis::collective_of, as indices into what keep_steady() left of the collectives; kNone for the others.
std::vector<std::vector<std::uint32_t>> indices_left(std::vector<std::vector<std::uint32_t>> collective_of,
                                                     const Report& report);
// The inverse of keep_steady().
void restore(NotSteady rest, Report& report);

// `communication_left_out`: the ranks communicate, but in steps with an evaluation or a checkpoint, which are
// left out (federated averaging: each round ends with both). Of a report before keep_steady(). Nothing unless
// less than a hundredth of the steady windows is communication, and of those steps a hundredth or more, over
// ten times as much in all. What warm-up has, a barrier at the begin, tells nothing of the steps behind it.
std::optional<Warning> communication_left_out(const Report& report);

}  // namespace lockstep::analyzer

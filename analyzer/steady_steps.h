// Which steps of a job are steady training: not those before a change point at the begin (compilation,
// caches, memory pools, autotuning), nor those in which a range says that the job compiled, saved or
// evaluated.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/account/account.h"
#include "analyzer/report/report.h"
#include "analyzer/step_lengths.h"

namespace lockstep::analyzer {

// Which steps hold a phase: a twentieth of the median step or more of it, of any rank while they lasted.
// Where all who did that were in other steps, or behind their last one, somebody has to have waited for it:
// the step of a rank meanwhile is longer than the median by half of that.
struct StepsWith {
  std::vector<bool> holds;  // by step
  bool is_usual = false;    // more than half of them do: that is how this loop is
};
// Of start-up: more than half of the step; little of it is in every first step.
StepsWith steps_with(std::span<const StepLength> steps, Phase phase);

struct SteadyChoice {
  std::vector<std::int64_t> steps;
  std::vector<StepsLeftOut> left_out;  // how long they lasted: measure_left_out
};

// `steps` in order. Nothing where there are fewer than four, or fewer than two would be left.
//
// A step with compilation, checkpoint or evaluation of a twentieth of the median step or more, of any
// rank while it lasted, is left out, unless more than half of the steps have that; of start-up: more than
// half of the step.
//
// Of the others the longest prefix that ends with a long step, before one that is not or each of it twice as
// long as 98 of 100 steps behind it, of which two thirds are long, and whose median is longer than 98 of 100
// steps behind it. Long is: a quarter more (of fewer than 20 steps half as much again) than the median m of
// the second half, and more than m + 6 · 1.4826 · MAD of it. At most half of the steps and at most ten, or a
// third.
//
// A step is never left out for its length alone: not behind the first one that is no longer long. What its
// ranks waited for cores is no part of its length there: nothing warms up that other programs keep from
// running.
std::optional<SteadyChoice> choose_steady_steps(std::span<const StepLength> steps);

// Steps that do not settle: the median lengths of the first and of the last quarter; of fewer than 20 steps
// of the first and of the last third.
struct StepDrift {
  std::int64_t first_ns = 0, last_ns = 0;
};
// `steps`, in order: those that are steady, 8 or more. Nothing unless the medians of the four quarters rise,
// or fall, one after the other; by a quarter and more in all; and between the last two by a twentieth and by
// more than three standard errors of the difference. Such figures are means of what is still changing.
//
// Of fewer than 20 steps nothing unless the medians of the thirds rise, or fall: by half of the smaller one
// and six standard errors in all (of the noise from step to step), by a fifth of that from each third to the
// next, and in an order that steps without a trend have once in some hundred runs (three standard deviations
// of Kendall's sum). O(steps · log steps); of fewer than 20 steps O(steps²).
std::optional<StepDrift> find_drift(std::span<const StepLength> steps);

// What is to be said of the choice: that there is none (`no_steady_steps`), or that steps do not settle
// (`steps_drift`).
std::optional<Warning> doubt_of_steady_steps(std::span<const StepLength> steps,
                                             const std::optional<SteadyChoice>& choice);

// How long the steps that are left out together lasted, where they lasted longest: on one rank, for ranks
// that wait for each other do so in different ones of them. And how long their reason took of the rank that
// it took longest of, over all of them: what lies in step 14 of one rank may lie in step 15 of another.
// O(ranks · steps · log parts).
void measure_left_out(const Job& job, std::span<const RankWindows> windows, std::span<const Phases> phases,
                      std::vector<StepsLeftOut>& left_out);

// The first step after the leading ones that are left out; the least number where none are.
std::int64_t first_after_warm_up(const SteadyChoice& choice);

}  // namespace lockstep::analyzer

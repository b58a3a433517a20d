// Verdicts made by hand, for tests.
#pragma once

#include <string>

#include "analyzer/figures/figures.h"
#include "analyzer/gate/verdict.h"
#include "analyzer/gate/verdict_outputs.h"

namespace lockstep::analyzer {

inline FigureVerdict sample_figure(const char* name, Zone zone, const Sample& head, const Sample& base,
                                   double limit) {
  FigureVerdict figure{.rule = {.figure = find_figure_kind(name),
                                .scope = "",
                                .bound = std::nullopt,
                                .tolerance = {.relative = 0.03, .floor = find_figure_kind(name)->floor}},
                       .zone = zone,
                       .why_missing = "",
                       .head = head,
                       .base = base,
                       .limit = limit,
                       .chance = 0.2,
                       .runs_needed = std::nullopt,
                       .expected = std::nullopt};
  return figure;
}

// One of each state; the names hold what markup and terminals would take for theirs.
inline Verdict one_of_each() {
  Verdict verdict;
  verdict.outcome = Outcome::fail;
  const Sample slow{.runs = 3, .mean = 440e6, .deviation = 1e6},
      before{.runs = 3, .mean = 400e6, .deviation = 1e6};
  verdict.figures.push_back(sample_figure("step_time", Zone::worse, slow, before, 412e6));
  verdict.figures.back().chance = 0.0004;
  verdict.figures.push_back(sample_figure("compute", Zone::within, before, before, 412e6));
  verdict.figures.push_back(sample_figure("overlap_ratio", Zone::undecided,
                                          {.runs = 3, .mean = 0.58, .deviation = 0.02},
                                          {.runs = 3, .mean = 0.6, .deviation = 0.02}, 0.582));
  verdict.figures.back().runs_needed = 4;
  verdict.figures.push_back(sample_figure("busbw", Zone::undecided, {}, {}, 0));
  verdict.figures.back().rule.scope = "group <a|b>\x1b[31m";
  verdict.figures.back().missing = true;
  verdict.figures.back().why_missing = "runs/2 does not tell it";
  verdict.figures.push_back(sample_figure("transfer", Zone::worse, slow, before, 412e6));
  verdict.figures.back().expected = Expected{"transfer", "", "smaller buckets & more", "2026-12-31"};
  verdict.figures.push_back(sample_figure("queued", Zone::within, before, slow, 453.2e6));
  verdict.figures.back().is_better = true;
  verdict.step = {.base_ns = 400e6,
                  .head_ns = 440e6,
                  .causes = {{Cause::barrier_wait, 10e6, 48e6},
                             {Cause::compute, 300e6, 295e6},
                             {Cause::transfer, 80e6, 87e6},
                             {Cause::copy, 10e6, 10e6}}};
  verdict.warnings.emplace_back("the runs are of 2 ranks");
  return verdict;
}

inline VerdictContext sample_context() {
  return {.policy = "gate.toml",
          .false_alarms = 0.01,
          .baseline = "main.json",
          .head_runs = 3,
          .base_runs = 3,
          .diff_command = "lockstep diff old --to new"};
}

}  // namespace lockstep::analyzer

// Whether runs hold what a policy asks of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/comparison/zone.h"
#include "analyzer/gate/policy.h"
#include "analyzer/gate/run_record.h"
#include "analyzer/gate/step_change.h"
#include "base/result.h"

namespace lockstep::analyzer {

struct FigureVerdict {
  Rule rule;
  Zone zone = Zone::undecided;
  // A run, or the baseline, does not tell the figure. Such a one fails: what is not measured is not checked.
  bool missing = false;
  std::string why_missing;  // "runs/3 does not tell it"
  bool uncompared = false;  // it is held to a baseline, and there is none yet
  Sample head, base;        // of a bound base has no runs
  double limit = 0;         // in the figure's unit: what it is held to, with its tolerance
  // That a healthy run looks as bad, corrected for all figures of the policy; absent where nobody knows the
  // spread.
  std::optional<double> chance;
  std::optional<std::size_t>
      runs_needed;         // of an undecided one; absent also where more than kMaxMoreRuns are
  bool is_better = false;  // than the baseline by more than the tolerance, with the policy's confidence
  std::optional<Expected> expected;                // that stands for it and is in force
  std::optional<Expected> expired = std::nullopt;  // the last that stood for it, where none is in force

  bool has_limit() const { return !missing && !uncompared; }
};

enum class Outcome : std::uint8_t {
  pass,
  fail,
  undecided,
  not_compared,  // nothing fails, and a figure is held to a baseline that is not there yet
};
const char* to_string(Outcome outcome);  // "pass"

struct Verdict {
  Outcome outcome = Outcome::undecided;
  std::vector<FigureVerdict> figures;  // in the policy's order
  std::optional<StepChange> step;      // where there is a baseline that tells it
  std::vector<std::string> warnings;   // what is wrong with neither side, and should be known
};

struct VerdictOptions {
  std::string today;           // "2026-11-27": an expected regression holds to the end of its day
  bool other_setting = false;  // compare although machine or size differ
  // There is no baseline yet: bounds are judged, and what is held to one is `uncompared`.
  bool no_baseline_yet = false;
  bool against_itself = false;  // both sides are the same runs, on purpose
};

// `base` may be empty where every rule has a bound, or no baseline is there yet. Errors: nothing to judge, or
// all of it expected; an unfit run, runs that are the same one, settings that differ within a side or between
// both.
Result<Verdict> judge(const Policy& policy, std::span<const RunRecord> head, std::span<const RunRecord> base,
                      const VerdictOptions& options);

// Of a figure that has a limit.
Excess excess_of(const FigureVerdict& figure);

// Whether a policy needs a baseline at all.
bool needs_baseline(const Policy& policy);

}  // namespace lockstep::analyzer

// Two runs beside each other: what each cause costs in both, over all steps that both have, and step by step.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/report/report.h"
#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

// Means over ranks, in ns: runs of different size are compared by what a rank's step is made of.
struct StepMeans {
  std::int64_t window_ns = 0;
  analyzer::Partition parts;
  std::int64_t ranks = 0;   // how many are known
  bool waits_known = true;  // of all of these
};
// Of one step; absent where no rank's measures are known.
std::optional<StepMeans> step_means(const Scene& scene, std::int64_t step);

struct StepPair {
  std::int64_t step_a = 0, step_b = 0;  // numbers
  StepMeans a, b;
};

struct RunDiff {
  std::vector<StepPair> steps;  // in order
  // Means over the pairs, of a rank's step.
  StepMeans a, b;
  // Steps were paired by number where runs share numbers, else by position.
  bool by_number = true;
  // Where both runs have as many ranks, a step's means are over those that both know: what one of them lost
  // is no change. These are known in one run alone, in some step.
  std::vector<std::int32_t> ranks_left_out;  // in order
  std::string why_empty;                     // where there are no pairs
};
RunDiff compare(const Scene& a, const Scene& b);

// What changed, the greatest difference first; causes that neither run has are left out.
struct CauseChange {
  analyzer::Cause cause = analyzer::Cause::other;
  std::int64_t a_ns = 0, b_ns = 0;
  std::int64_t change_ns() const { return b_ns - a_ns; }
};
std::vector<CauseChange> changes(const RunDiff& diff);
// By name; transfer is "communication" where one of the runs does not know what of it was waiting.
const char* cause_label(const RunDiff& diff, analyzer::Cause cause);

// Puts the runs' timelines beside each other: the step of B in the middle of a view where the step of A
// stands that it is paired with. Between steps, and where there are none, the pair before counts.
class StepAlignment {
 public:
  StepAlignment(const RunDiff& diff, const Timeline& a, const Timeline& b);
  // The view of one run that shows the same part of the step at the left edge's middle as the other's.
  TimeView view_of_b(const TimeView& a) const;
  TimeView view_of_a(const TimeView& b) const;

  struct Extent {
    TimeRange whole;  // the shortest that shows both runs' TimelineState::whole where they stand beside it
    TimeRange reach;  // as far as either run goes
  };
  // In the times of one run.
  const Extent& extent_in_a() const { return in_a_; }
  const Extent& extent_in_b() const { return in_b_; }
  // "step 7", or "step 7 of A and step 3 of B": where these views, of which one was made from the other, have
  // a pair of steps at one place. "" of runs without pairs.
  std::string aligned_at(const TimeView& a, const TimeView& b) const;

 private:
  struct Anchor {
    Nanoseconds a = 0, b = 0;  // begins of a pair of steps
    std::int64_t step_a = 0, step_b = 0;
  };
  using Side = Nanoseconds Anchor::*;
  const Anchor& anchor_of(const TimeView& view, Side side) const;
  Extent extent(const Timeline& own, const Timeline& other, Side from, Side to) const;
  TimeView shifted(const TimeView& view, Side from, Side to) const;
  std::vector<Anchor> anchors_;  // in order; at least one
  bool any_pair_ = false;
  Extent in_a_, in_b_;
};

// "B takes 1.24 s a step, A 980 ms: 26.5 % more, above all barrier wait (+210 ms)."
std::string sentence(const RunDiff& diff);

}  // namespace lockstep::viewer

// Two runs beside each other: what changed between them, as `lockstep diff` says it, and step by step.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/diff/runs_diff.h"
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
  std::vector<StepPair> steps;              // in order
  std::optional<analyzer::RunsDiff> split;  // absent where the runs have nothing to compare
  // Steps were paired by number where runs share numbers, else by position.
  bool by_number = true;
  std::string why_empty;  // where there is no split
};
// Where both runs have as many ranks, a step's means are over those that both know: what one of them lost is
// no change.
RunDiff compare(const Scene& a, const Scene& b);

// What changed, the greatest difference first; causes that neither run has are left out.
std::vector<analyzer::CauseDiff> changed_causes(const analyzer::RunsDiff& diff);
// The ranks whose own work changed most, by rank.
std::vector<analyzer::RankDiff> most_changed_ranks(const analyzer::RunsDiff& diff, std::size_t most);

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

// What changed, as `lockstep diff` says it first, and which ranks that is without.
std::string sentence(const RunDiff& diff);

}  // namespace lockstep::viewer

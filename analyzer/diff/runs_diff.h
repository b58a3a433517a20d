// Two runs, or two sets of runs, against each other: the difference of their steps' time, split exactly over
// causes, ranks, collectives, process groups and layers, and that of their wall time over the run's phases
// (docs/diff.md). Figures alone: diff_words.h says them.
//
// A run's step is the mean over its ranks of each rank's mean step; a set's is the mean over its runs. Times
// are integers of nanoseconds that sum exactly: those of causes and ranks to the step, those of collectives
// and groups with their rest to the communication beside which nothing computed, those of layers with their
// rest to the compute, those of phases to the wall time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/diff/run_sums.h"
#include "analyzer/diff/spread.h"
#include "base/result.h"

namespace lockstep::analyzer {

// A part of both sides.
struct TimePair {
  std::int64_t a_ns = 0, b_ns = 0;
  std::int64_t change_ns() const { return b_ns - a_ns; }
};

struct CauseDiff {
  Cause cause = Cause::other;
  TimePair time;  // a part of the step
  Spread spread;  // of its change
};

// A rank that both sides have.
struct RankDiff {
  std::int32_t rank = 0;
  std::array<TimePair, kCauseCount> causes;  // of this rank's own step
  TimePair own;                              // of that what it does itself: all but waiting and transfer
  TimePair step;                             // this rank's own
  TimePair part;                             // what it adds to the job's step, which is the mean over ranks
  Spread own_spread;                         // of the change of `own`
  std::string host_a, host_b;
};

enum class Presence : std::uint8_t { both, only_a, only_b };

// A collective that comes again in every step; of a set, the mean over its runs.
struct CollectiveDiff {
  CollectiveKey key;
  Presence presence = Presence::both;
  TimePair time, transfer, wait;          // exposed, a step and rank; the first is both others together
  double per_step_a = 0, per_step_b = 0;  // operations
  std::optional<std::int64_t> bytes_a, bytes_b;
};

struct GroupDiff {
  std::string name;
  TimePair time;
};

struct LayerDiff {
  LayerKey key;
  Presence presence = Presence::both;
  TimePair time;  // a step and rank
};

struct PhaseDiff {
  Spending phase = Spending::other;
  TimePair time;  // of the mean rank
};

// Parts of a whole, the greatest change first, and what none of them accounts for.
template <class Part>
struct Split {
  TimePair whole;
  std::vector<Part> parts;
  TimePair rest;  // negative where parts ran at the same time
};

struct DiffSide {
  std::vector<std::string> paths;
  std::int64_t steps = 0;  // of all runs
  std::int32_t world_size = 0;
  std::vector<std::string> failures;  // "run3: the job hung in …"
};

struct RunsDiff {
  DiffSide a, b;
  TimePair step;
  Spread spread;                  // of its change
  bool waits_known = true;        // else waiting is a part of transfer
  std::vector<CauseDiff> causes;  // all nine, in their order
  // Of runs of one size, by rank; empty where sizes differ.
  std::vector<RankDiff> ranks;
  std::vector<std::int32_t> ranks_left_out;  // of which some run has no times
  Split<CollectiveDiff> collectives;
  std::vector<GroupDiff> groups;  // those of the collectives, together; rest as theirs
  Split<LayerDiff> layers;
  Split<PhaseDiff> phases;  // without a rest
  // At most half of the ranks, whose own work is the difference: the others' own hardly changes, and they
  // wait as much longer or shorter. Empty where it is not so, or not beyond chance.
  std::vector<std::int32_t> changed_ranks;
  std::optional<Cause> their_cause;  // what they do longer, or shorter; absent where it is several
};

// Each side has a run at least; the runs of a side are of one world size, else the error says which are not.
Result<RunsDiff> diff_runs(std::vector<RunSums> a, std::vector<RunSums> b);

// The part of a step that a rank spends by what it does itself.
bool is_own(Cause cause);

}  // namespace lockstep::analyzer

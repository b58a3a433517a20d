// In which steps ranks did something else than training, whatever else lies in the same steps.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/model/phase_names.h"

namespace lockstep::analyzer {

// So many times as much as of any other rank is of one alone.
inline constexpr std::int64_t kOfOneRank = 4;

// Of ranks that are added one by one, the one with most, and whether it alone has it.
class LongestRank {
 public:
  // Whether it has more than all before.
  bool add(std::int64_t ns, std::int32_t rank) {
    if (ns <= ns_) {
      next_ns_ = std::max(next_ns_, ns);
      return false;
    }
    next_ns_ = std::exchange(ns_, ns);
    rank_ = rank;
    return true;
  }
  std::int64_t ns() const { return ns_; }  // 0: no rank has any
  // Nobody where two have as much.
  std::optional<std::int32_t> longest() const { return ns_ > next_ns_ ? std::optional(rank_) : std::nullopt; }
  std::optional<std::int32_t> alone() const {
    return ns_ > 0 && ns_ >= kOfOneRank * next_ns_ ? std::optional(rank_) : std::nullopt;
  }

 private:
  std::int64_t ns_ = 0, next_ns_ = 0;
  std::int32_t rank_ = 0;
};

// Of the ranks that are added the one that alone has something: by all of it, and by what of it lies outside
// of operations with others, too, if any has some there. Who waits in an evaluation for one that still saves
// has no more of it.
class AloneRank {
 public:
  void add(std::int64_t ns, std::int64_t own_ns, std::int32_t rank) {
    all_.add(ns, rank);
    own_.add(own_ns, rank);
  }
  std::optional<std::int32_t> alone() const {
    return own_.ns() == 0 || all_.alone() == own_.alone() ? all_.alone() : std::nullopt;
  }

 private:
  LongestRank all_, own_;
};

// Neighbouring steps that hold a phase.
struct PhaseStretch {
  std::int64_t first = 0, last = 0;
  std::int64_t steps = 1;  // of them
  // Of the rank that it took longest of, Σ over them; not what that rank waited for others.
  std::int64_t ns = 0;
  std::int64_t own_ns = 0;                // of that, outside of operations with others
  std::int32_t longest_on = 0;            // that rank
  std::optional<std::int32_t> rank = {};  // of which alone it took that: kOfOneRank times any other's
};

// What a rank does of a phase outside of operations with others, in all stretches together.
struct OwnOfPhase {
  std::int64_t ns = 0;            // but for what its training threads wait for a core in it
  std::int64_t core_wait_ns = 0;  // that; 0 where nobody looked
  std::int64_t longest_at = 0;    // at so many places it has more of `ns` than any other
};

struct PhaseInSteps {
  // In order. Where another rank alone was in the phase, and in no step by then, there is none.
  std::vector<PhaseStretch> stretches;
  std::int64_t steps = 0, of_steps = 0;  // that hold it; that were looked at
  // More than half of the run's steps hold it: this loop is so, and they are not left out for it.
  bool is_usual = false;
  PhaseStretch longest;         // of the stretches; where it is usual, of the steps
  std::vector<OwnOfPhase> own;  // by rank, in the order of Job::ranks
  std::int64_t places = 0;      // stretches; where it is usual, steps
};

struct Interruptions {
  std::array<PhaseInSteps, kPhaseCount> of;  // of start-up and what is saved beside training: nothing
  bool whole_run = false;                    // all steps were looked at, not only some that were asked for
  const PhaseInSteps& operator[](Phase phase) const { return of[static_cast<std::size_t>(phase)]; }
};

}  // namespace lockstep::analyzer

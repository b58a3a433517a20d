// Each clock beside a neighbour nearer to the reference: the first guess that the whole system then corrects.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/align/solve.h"

namespace lockstep::analyzer {

// A stretch of one clock's time in which one line relates it to its parent.
struct TreePiece {
  ClockMap::Piece to_parent;
  double rate_doubt = 0;   // the rate is right within this
  Nanoseconds middle = 0;  // where a wrong rate costs nothing
  TimeSpan extent;
  Nanoseconds sure_until = 0;  // from here to the extent's end the clock may have been set already
};

struct TreeClock {
  bool reached = false;
  std::uint32_t parent = 0;       // itself for the reference
  std::vector<TreePiece> pieces;  // by time; one for the reference
};

// A reading of some clock, taken to the reference through its ancestors.
struct Mapped {
  Nanoseconds time = 0;
  double rate = 0;          // gained per nanosecond, there
  double doubt = 0;         // what the rates on the way may have added or taken
  std::uint32_t piece = 0;  // of the clock's own
  bool unsure = false;      // a clock on the way was being set
};

class ClockTree {
 public:
  explicit ClockTree(const ClockProblem& problem);

  const std::vector<TreeClock>& clocks() const { return clocks_; }
  // Precondition: the clock was reached.
  Mapped map(std::uint32_t clock, Nanoseconds reading) const;

 private:
  void find_parents(const ClockProblem& problem);
  void fit(std::uint32_t clock, const ClockProblem& problem, std::span<const Precedence> between);

  std::uint32_t reference_;
  std::vector<TreeClock> clocks_;
  std::vector<std::uint32_t> order_;        // reached clocks but the reference, parents first
  std::vector<Precedence> by_pair_;         // sorted by pair
  std::vector<std::size_t> first_of_pair_;  // in by_pair_, and its size
};

}  // namespace lockstep::analyzer

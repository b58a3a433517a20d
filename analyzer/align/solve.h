// Many clocks, and what is known of the order of their readings: the offset of each to one of them, and how
// sure it is.
//
// Offsets are the solution of a system of difference constraints (Cormen et al., ch. 24.4): each precedence
// bounds the difference of two. Rates come first, from the tree of nearest clocks (offset_fit.h); the whole
// system then holds with what the rates leave open added to every bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stop_token>
#include <vector>

#include "analyzer/align/precedence.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// From one clock's readings to the reference's: straight pieces. Never falls: where the clock was set back,
// time stands still until it has caught up.
class ClockMap {
 public:
  struct Piece {
    Nanoseconds from = 0;  // the reading where it begins; the first one holds before, too
    Nanoseconds anchor = 0;
    std::int64_t offset = 0;  // at `anchor`
    double rate = 0;          // gained per nanosecond since
    // The last reading that is surely of this piece: from there on the clock may have been set already.
    Nanoseconds sure_until = std::numeric_limits<Nanoseconds>::max();
    // Never below where the piece before surely was, nor above where the next one begins; set by ClockMap.
    Nanoseconds floor = std::numeric_limits<Nanoseconds>::min();
    Nanoseconds ceiling = std::numeric_limits<Nanoseconds>::max();
  };
  ClockMap() : pieces_(1) {}
  explicit ClockMap(std::vector<Piece> pieces);  // not empty; sorted by `from`

  Nanoseconds operator()(Nanoseconds reading) const;
  const std::vector<Piece>& pieces() const { return pieces_; }
  bool is_identity() const;

 private:
  static Nanoseconds along(const Piece& piece, Nanoseconds reading);

  std::vector<Piece> pieces_;
};

struct SolvedClock {
  // False: nothing bounds it from both sides.
  bool related = false;
  ClockMap to_reference;
  // No reading in the span given is further from the truth. Between two pieces (a clock was set) it may be.
  std::int64_t uncertainty_ns = 0;
};

struct ClockSolution {
  std::vector<SolvedClock> clocks;
  // False: the precedences contradict each other, as a wrong match makes them. No clock is related then.
  bool consistent = true;
};

struct ClockProblem {
  std::uint32_t reference = 0;
  std::vector<TimeSpan> spans;  // of each clock, on itself: where its map will be used
  std::vector<Precedence> precedences;
  // How fast two clocks may drift apart at most. NTP slews by up to 500 ppm for a while; quartz is within
  // 100.
  double most_rate = 200e-6;
};

// O(n log n) in precedences, plus clocks times pairs of clocks that meet in the worst case.
ClockSolution solve_clocks(const ClockProblem& problem, const std::stop_token& stop = {});

}  // namespace lockstep::analyzer

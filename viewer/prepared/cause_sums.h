// How long each cause holds within any stretch of a rank's window: what the step bar shows where the segments
// are narrower than the pixels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/metrics/cause_segment.h"
#include "viewer/prepared/time_range.h"

namespace lockstep::viewer {

using CauseTimes = std::array<std::uint64_t, analyzer::kCauseCount>;  // ns, by Cause

// What was summed once: of each block of so many segments, when it begins and how long each cause held before
// it (modulo 2^64: only differences are used).
struct CauseBlocks {
  std::vector<Nanoseconds> begin;
  std::vector<CauseTimes> before;
};

CauseBlocks cause_blocks_of(std::span<const analyzer::CauseSegment> segments);

// A view of a rank's segments, which are sorted and disjoint, and of their blocks. All outlive it.
class CauseSums {
 public:
  CauseSums() = default;
  // `begin` and `before` are those of cause_blocks_of(segments).
  CauseSums(std::span<const analyzer::CauseSegment> segments, std::span<const Nanoseconds> begin,
            std::span<const CauseTimes> before)
      : segments_(segments), begin_(begin), before_(before) {}

  // Exact, in O(log segments).
  CauseTimes within(Nanoseconds begin, Nanoseconds end) const;
  // Adds the bytes that any stretch between the two is summed from; not those by which they are found.
  void add_bytes(Nanoseconds begin, Nanoseconds end, std::vector<std::span<const std::byte>>& bytes) const;

 private:
  friend class CauseColumns;

  std::span<const analyzer::CauseSegment> segments_;
  std::span<const Nanoseconds> begin_;
  std::span<const CauseTimes> before_;
};

// The same for stretches that follow each other, as columns of pixels do: each border is looked up once, and
// near the one before it.
class CauseColumns {
 public:
  CauseColumns(const CauseSums& sums, Nanoseconds begin);
  // From the end of the stretch before, or `begin`; zero if `end` is not behind it.
  CauseTimes up_to(Nanoseconds end);

 private:
  // How long each cause held before `time`.
  CauseTimes before(Nanoseconds time);

  const CauseSums& sums_;
  std::size_t block_ = 0;    // where the last time lies
  std::size_t stride_ = 64;  // blocks from the time before that
  Nanoseconds at_;
  CauseTimes before_at_;
};

}  // namespace lockstep::viewer

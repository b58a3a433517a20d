// Events of one row as sorted columns, and how events that may overlap are spread over rows.
//
// A row holds what can be drawn side by side: begins and ends are both sorted and no event begins before the
// one before it has ended. That is what makes folding a binary search (folding.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "viewer/prepared/time_range.h"

namespace lockstep::viewer {

// A view of a row; all spans have equal length. Reads from wherever the columns lie.
struct Columns {
  std::span<const Nanoseconds> begin;
  std::span<const Nanoseconds> end;
  // [i]: the summed length of events 0…i (modulo 2^64: only differences are used). Empty where nobody needs
  // density.
  std::span<const std::uint64_t> busy;
  std::size_t size() const { return begin.size(); }
};

// A row with what each of its events is; all spans that are not empty have equal length.
struct Row {
  std::span<const Nanoseconds> begin;
  std::span<const Nanoseconds> end;
  std::span<const std::uint64_t> busy;
  std::span<const std::uint32_t> item;  // indices that the lane's role gives a meaning
  // [i]: the summed waiting part of events 0…i; only rows of devices have it.
  std::span<const std::uint64_t> wait;

  Columns columns() const { return {begin, end, busy}; }
  std::size_t size() const { return begin.size(); }
};

// A row while it is made.
struct RowColumns {
  std::vector<Nanoseconds> begin;
  std::vector<Nanoseconds> end;
  std::vector<std::uint64_t> busy;
  std::vector<std::uint32_t> item;
  std::vector<std::uint64_t> wait;

  Columns columns() const { return {begin, end, busy}; }
  std::size_t size() const { return begin.size(); }
};

struct Event {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  std::uint32_t item = 0;
  std::uint16_t depth = 0;  // the highest row it may stand in
};

// Events of one lane, in any order, into rows: each into the first row from its depth on that is free. An
// event that overlaps its predecessor by less than `tolerance` (the resolution of the timestamps) stands in
// the same row, cut at the predecessor's end. At most `most` rows; what fits into none of them goes to the
// last one, cut the same way.
std::vector<RowColumns> make_rows(std::vector<Event> events, Nanoseconds tolerance = 0,
                                  std::size_t most = 64);

// Index of the first event that ends at or after `time`; size() if none does.
std::size_t first_ending_from(Columns columns, Nanoseconds time);

}  // namespace lockstep::viewer

// Turns the columns of a chunk into events, some rows at a time, so that what is worked on stays in the
// fastest cache.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "trace/format/columns.h"
#include "trace/format/schema.h"

namespace lockstep::trace::format {

// Rows decoded at once.
inline constexpr std::size_t kTileRows = 256;

// Whether the columns can make events of type E: an empty string, or what is missing.
template <class E>
std::string check_columns(const ColumnTable& table) {
  std::string problem;
  for_each_field<E>([&](auto field) {
    using F = decltype(field);
    if constexpr (is_interval<F>) {
      const Column* duration = table.find(Rows::events, F::kDurationId);
      const Column* begin = table.find(Rows::events, F::kBeginId);
      if (duration == nullptr || begin == nullptr || needs_durations(duration->predictor)) {
        problem = "it lacks its times";
      }
    } else {
      const Column* column = table.find(Rows::events, F::kId);
      if (column != nullptr && needs_durations(column->predictor)) {
        problem = "column " + std::to_string(F::kId) + " uses a predictor that it cannot use";
      }
    }
  });
  return problem;
}

// Precondition of all but the destructor: check_columns<E>() found nothing, and the table outlives the
// decoder.
template <class E>
class EventDecoder {
 public:
  explicit EventDecoder(const ColumnTable& table) {
    std::size_t next = 0;
    for_each_field<E>([&](auto field) {
      using F = decltype(field);
      if constexpr (is_interval<F>) {
        cursors_[next++] = ColumnCursor(table.find(Rows::events, F::kDurationId));
        cursors_[next++] = ColumnCursor(table.find(Rows::events, F::kBeginId));
      } else {
        cursors_[next++] = ColumnCursor(table.find(Rows::events, F::kId));
      }
    });
  }

  // Fills in the fields of the next `count` events but their lane; fields without a column are left alone.
  void next(std::size_t count, E* events) {
    for (; count > kTileRows; count -= kTileRows, events += kTileRows) next_tile(kTileRows, events);
    next_tile(count, events);
  }

 private:
  static constexpr std::size_t kCursors = 2 * std::tuple_size_v<typename Schema<E>::Fields>;

  void next_tile(std::size_t count, E* events) {
    std::array<std::uint64_t, kTileRows> values;
    std::size_t next = 0;
    for_each_field<E>([&](auto field) {
      using F = decltype(field);
      ColumnCursor& cursor = cursors_[next++];
      if constexpr (is_interval<F>) {
        std::array<std::uint64_t, kTileRows> durations;
        cursor.next(count, durations.data());
        cursors_[next++].next_begins(count, durations.data(), values.data());
        for (std::size_t i = 0; i < count; ++i) {
          events[i].*F::kBegin = from_bits<Nanoseconds>(values[i]);
          events[i].*F::kEnd = from_bits<Nanoseconds>(values[i] + durations[i]);
        }
      } else if (cursor.present()) {
        cursor.next(count, values.data());
        for (std::size_t i = 0; i < count; ++i)
          events[i].*F::kPointer = from_bits<typename F::Value>(values[i]);
      }
    });
  }

  std::array<ColumnCursor, kCursors> cursors_;
};

// The arguments of all events of a chunk.
class ArgumentDecoder {
 public:
  // An empty string, or what is wrong.
  std::string decode(const ColumnTable& table, std::uint32_t events);
  // Those of the next event; valid until the next decode().
  std::span<const Argument> next();

 private:
  std::vector<Argument> arguments_;
  std::vector<std::uint64_t> counts_;
  std::size_t event_ = 0;
  std::size_t argument_ = 0;
};

}  // namespace lockstep::trace::format

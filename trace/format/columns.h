// How a column of integers is coded: prediction, frame of reference, byte planes.
//
// A row's residual is its value minus what the predictor expects, modulo 2^64. The smallest residual of the
// column is its base; what is left, a small unsigned number, is stored in as many bytes as the greatest
// needs, plane by plane: first the lowest byte of all rows, then the next. Constant columns need no plane.
// The planes are what zstd compresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/events/event.h"
#include "trace/format/schema.h"

namespace lockstep::trace::format {

enum class Predictor : std::uint8_t {
  none = 0,      // value = residual
  previous = 1,  // value = previous value + residual
  gap = 2,       // begin = previous end + residual
  ends = 3,      // end = previous end + residual
};
constexpr bool needs_durations(Predictor predictor) {
  return predictor == Predictor::gap || predictor == Predictor::ends;
}

enum class Rows : std::uint8_t { events = 0, arguments = 1 };

// Collects the columns of one chunk. May throw std::bad_alloc.
class ColumnEncoder {
 public:
  void start(std::size_t events, std::size_t arguments);

  template <class T>
  void add(std::uint8_t id, Rows rows, const T* values) {
    const std::size_t count = row_count(rows);
    if (is_constant(values, count)) return add_constant(id, rows, to_bits(values[0]));
    values_.resize(count);
    for (std::size_t i = 0; i < count; ++i) values_[i] = to_bits(values[i]);
    add_values(id, rows);
  }
  void add_interval(std::uint8_t duration_id, std::uint8_t begin_id, const Nanoseconds* begin,
                    const Nanoseconds* end);

  // The finished body in parts, in order: descriptors, then planes that belong together.
  std::span<const std::span<const std::byte>> finish();

 private:
  template <class T>
  static bool is_constant(const T* values, std::size_t count) {
    // Without a way out in the middle, which would cost more than it saves: most columns are short.
    bool same = count > 0;
    for (std::size_t i = 1; i < count; ++i) same &= to_bits(values[i]) == to_bits(values[0]);
    return same;
  }
  std::size_t row_count(Rows rows) const { return rows == Rows::events ? events_ : arguments_; }
  void add_constant(std::uint8_t id, Rows rows, std::uint64_t value);
  void add_values(std::uint8_t id, Rows rows);
  void add_residuals(std::uint8_t id, Rows rows, Predictor predictor, std::uint64_t first_value);
  void describe(std::uint8_t id, Rows rows, Predictor predictor, unsigned width, std::uint64_t base,
                std::uint64_t start);

  std::size_t events_ = 0;
  std::size_t arguments_ = 0;
  std::uint64_t columns_ = 0;
  std::vector<std::uint64_t> values_;
  std::vector<std::uint64_t> residuals_;
  std::vector<std::uint64_t> durations_;
  std::vector<std::byte> descriptors_;
  std::vector<std::byte> head_;
  std::vector<std::byte> planes_;
  std::vector<std::size_t> ends_of_parts_;
  std::vector<std::span<const std::byte>> parts_;
};

// One column of a chunk's body, found and measured but not yet decoded.
struct Column {
  std::uint8_t id = 0;
  Rows rows = Rows::events;
  Predictor predictor = Predictor::none;
  std::uint8_t width = 0;   // bytes a row, 0 to 8
  std::uint64_t base = 0;   // smallest residual
  std::uint64_t start = 0;  // previous value (or end) of the first row
  std::uint64_t row_count = 0;
  const std::byte* planes = nullptr;
};

// The columns of a decompressed body. Points into it.
class ColumnTable {
 public:
  // An empty string, or what is wrong with the body.
  std::string parse(std::span<const std::byte> body, std::uint32_t events);

  const Column* find(Rows rows, std::uint8_t id) const;
  std::uint32_t argument_count() const { return arguments_; }

 private:
  std::vector<Column> columns_;
  std::uint32_t arguments_ = 0;
};

// Decodes a column from its first row to its last, some rows at a time.
class ColumnCursor {
 public:
  ColumnCursor() = default;
  explicit ColumnCursor(const Column* column);

  bool present() const { return column_ != nullptr; }
  // The next `count` values; the caller asks for no more than there are.
  void next(std::size_t count, std::uint64_t* values);
  // The same for begins, given the durations of the same rows.
  void next_begins(std::size_t count, const std::uint64_t* durations, std::uint64_t* values);

 private:
  void load_residuals(std::size_t count, std::uint64_t* values);

  const Column* column_ = nullptr;
  std::uint64_t row_ = 0;
  std::uint64_t previous_ = 0;
};

}  // namespace lockstep::trace::format

#include <algorithm>
#include <bit>

#include "trace/format/bytes.h"
#include "trace/format/columns.h"

namespace lockstep::trace::format {
namespace {

// Planes are handed to zstd in parts of at least this many bytes: each gets its own entropy table, which pays
// for itself only above this.
constexpr std::size_t kSmallestPart = 1024;
constexpr std::size_t kSampledRows = 128;

std::int64_t as_signed(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

// Estimates what a column of residuals costs: bits of their distances from the first one, over a sample of
// rows. residual(i) is asked for rows 1 to count - 1.
template <class Residual>
std::uint64_t sampled_cost(std::size_t count, Residual residual) {
  if (count < 2) return 0;
  const std::size_t stride = std::max<std::size_t>(1, (count - 1) / kSampledRows);
  const std::uint64_t first = residual(1);
  std::uint64_t bits = 0;
  for (std::size_t i = 1; i < count; i += stride) {
    bits += static_cast<std::uint64_t>(std::bit_width(zigzag(as_signed(residual(i) - first))));
  }
  return bits;
}

template <unsigned Width>
void split(const std::uint64_t* values, std::uint64_t base, std::size_t count, std::byte* planes) {
  for (unsigned plane = 0; plane < Width; ++plane) {
    std::byte* out = planes + plane * count;
    for (std::size_t i = 0; i < count; ++i)
      out[i] = static_cast<std::byte>((values[i] - base) >> (8 * plane));
  }
}

void split(unsigned width, const std::uint64_t* values, std::uint64_t base, std::size_t count,
           std::byte* planes) {
  switch (width) {
    case 1:
      return split<1>(values, base, count, planes);
    case 2:
      return split<2>(values, base, count, planes);
    case 3:
      return split<3>(values, base, count, planes);
    case 4:
      return split<4>(values, base, count, planes);
    case 5:
      return split<5>(values, base, count, planes);
    case 6:
      return split<6>(values, base, count, planes);
    case 7:
      return split<7>(values, base, count, planes);
    case 8:
      return split<8>(values, base, count, planes);
    default:
      return;
  }
}

}  // namespace

void ColumnEncoder::start(std::size_t events, std::size_t arguments) {
  events_ = events;
  arguments_ = arguments;
  columns_ = 0;
  descriptors_.clear();
  planes_.clear();
  ends_of_parts_.clear();
}

// Most columns of most chunks: the same as below, without looking at each row five times.
void ColumnEncoder::add_constant(std::uint8_t id, Rows rows, std::uint64_t value) {
  describe(id, rows, Predictor::none, 0, value, 0);
}

void ColumnEncoder::add_values(std::uint8_t id, Rows rows) {
  const std::size_t count = values_.size();
  const std::uint64_t plain = sampled_cost(count, [&](std::size_t i) { return values_[i]; });
  const std::uint64_t delta = sampled_cost(count, [&](std::size_t i) { return values_[i] - values_[i - 1]; });
  const std::uint64_t first = count > 0 ? values_[0] : 0;
  residuals_.resize(count);
  // Values that repeat in patterns (names) compress better as they are, so differences must be clearly
  // smaller.
  if (delta * 4 < plain * 3) {
    for (std::size_t i = 1; i < count; ++i) residuals_[i] = values_[i] - values_[i - 1];
    add_residuals(id, rows, Predictor::previous, first);
  } else {
    residuals_.swap(values_);
    add_residuals(id, rows, Predictor::none, first);
  }
}

void ColumnEncoder::add_interval(std::uint8_t duration_id, std::uint8_t begin_id, const Nanoseconds* begin,
                                 const Nanoseconds* end) {
  const std::size_t count = events_;
  const auto at = [](const Nanoseconds* times, std::size_t i) {
    return static_cast<std::uint64_t>(times[i]);
  };
  values_.resize(count);
  for (std::size_t i = 0; i < count; ++i) values_[i] = at(end, i) - at(begin, i);
  add_values(duration_id, Rows::events);

  const auto previous = [&](std::size_t i) { return at(begin, i) - at(begin, i - 1); };
  const auto gap = [&](std::size_t i) { return at(begin, i) - at(end, i - 1); };
  const auto ends = [&](std::size_t i) { return at(end, i) - at(end, i - 1); };
  const std::uint64_t previous_cost = sampled_cost(count, previous);
  const std::uint64_t gap_cost = sampled_cost(count, gap);
  const std::uint64_t ends_cost = sampled_cost(count, ends);
  residuals_.resize(count);
  if (gap_cost < previous_cost && gap_cost <= ends_cost) {
    for (std::size_t i = 1; i < count; ++i) residuals_[i] = gap(i);
    add_residuals(begin_id, Rows::events, Predictor::gap, count > 0 ? at(begin, 0) : 0);
  } else if (ends_cost < previous_cost) {
    for (std::size_t i = 1; i < count; ++i) residuals_[i] = ends(i);
    add_residuals(begin_id, Rows::events, Predictor::ends, count > 0 ? at(end, 0) : 0);
  } else {
    for (std::size_t i = 1; i < count; ++i) residuals_[i] = previous(i);
    add_residuals(begin_id, Rows::events, Predictor::previous, count > 0 ? at(begin, 0) : 0);
  }
}

// `first_value` is what the first row's prediction plus residual must give; residuals_[0] is ignored where
// there is one.
void ColumnEncoder::add_residuals(std::uint8_t id, Rows rows, Predictor predictor,
                                  std::uint64_t first_value) {
  const std::size_t count = residuals_.size();
  const std::size_t from = predictor == Predictor::none ? 0 : 1;
  std::int64_t smallest = count > from ? as_signed(residuals_[from]) : 0;
  std::int64_t greatest = smallest;
  for (std::size_t i = from; i < count; ++i) {
    smallest = std::min(smallest, as_signed(residuals_[i]));
    greatest = std::max(greatest, as_signed(residuals_[i]));
  }
  const auto base = static_cast<std::uint64_t>(smallest);
  const std::uint64_t range = static_cast<std::uint64_t>(greatest) - base;
  const auto width = static_cast<unsigned>((std::bit_width(range) + 7) / 8);
  // The first row's residual costs nothing: its prediction is chosen so that it is the base.
  if (predictor != Predictor::none && count > 0) residuals_[0] = base;
  describe(id, rows, predictor, width, base, first_value - base);
  const std::size_t position = planes_.size();
  planes_.resize(position + width * count);
  split(width, residuals_.data(), base, count, planes_.data() + position);
  for (unsigned plane = 1; plane <= width; ++plane) {
    const std::size_t end = position + plane * count;
    if (end - (ends_of_parts_.empty() ? 0 : ends_of_parts_.back()) >= kSmallestPart)
      ends_of_parts_.push_back(end);
  }
}

void ColumnEncoder::describe(std::uint8_t id, Rows rows, Predictor predictor, unsigned width,
                             std::uint64_t base, std::uint64_t start) {
  ByteWriter out(descriptors_);
  out.u8(id);
  out.u8(static_cast<std::uint8_t>(rows));
  out.u8(static_cast<std::uint8_t>(predictor));
  out.u8(static_cast<std::uint8_t>(width));
  out.signed_varint(as_signed(base));
  if (predictor != Predictor::none) out.signed_varint(as_signed(start));
  ++columns_;
}

std::span<const std::span<const std::byte>> ColumnEncoder::finish() {
  head_.clear();
  ByteWriter out(head_);
  out.varint(arguments_);
  out.varint(columns_);
  head_.insert(head_.end(), descriptors_.begin(), descriptors_.end());
  parts_.clear();
  parts_.emplace_back(head_);
  std::size_t begin = 0;
  for (const std::size_t end : ends_of_parts_) {
    parts_.emplace_back(planes_.data() + begin, end - begin);
    begin = end;
  }
  if (begin < planes_.size()) parts_.emplace_back(planes_.data() + begin, planes_.size() - begin);
  return parts_;
}

}  // namespace lockstep::trace::format

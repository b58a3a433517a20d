#include <string>

#include "trace/format/bytes.h"
#include "trace/format/columns.h"

namespace lockstep::trace::format {
namespace {

// More than any version will need; keeps a damaged count from costing time.
constexpr std::uint64_t kMaxColumns = 256;

template <unsigned Width>
void join(const std::byte* planes, std::size_t stride, std::uint64_t base, std::size_t count,
          std::uint64_t* values) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t value = 0;
    for (unsigned plane = 0; plane < Width; ++plane) {
      value |= static_cast<std::uint64_t>(planes[plane * stride + i]) << (8 * plane);
    }
    values[i] = value + base;
  }
}

}  // namespace

std::string ColumnTable::parse(std::span<const std::byte> body, std::uint32_t events) {
  columns_.clear();
  ByteReader in(body);
  const std::uint64_t arguments = in.varint();
  const std::uint64_t columns = in.varint();
  if (!in.ok() || columns > kMaxColumns) return "its column table is malformed";
  if (arguments > kMaxArgumentsPerChunk)
    return "it has " + std::to_string(arguments) + " arguments, more than allowed";
  arguments_ = static_cast<std::uint32_t>(arguments);
  for (std::uint64_t i = 0; i < columns; ++i) {
    Column column;
    column.id = in.u8();
    const std::uint8_t rows = in.u8();
    const std::uint8_t predictor = in.u8();
    column.width = in.u8();
    column.base = static_cast<std::uint64_t>(in.signed_varint());
    if (predictor != 0) column.start = static_cast<std::uint64_t>(in.signed_varint());
    if (!in.ok() || rows > static_cast<std::uint8_t>(Rows::arguments) || column.width > 8) {
      return "its column table is malformed";
    }
    if (predictor > static_cast<std::uint8_t>(Predictor::ends)) {
      return "column " + std::to_string(column.id) + " uses an unknown predictor, " +
             std::to_string(predictor);
    }
    column.rows = static_cast<Rows>(rows);
    column.predictor = static_cast<Predictor>(predictor);
    column.row_count = column.rows == Rows::events ? events : arguments;
    columns_.push_back(column);
  }
  std::size_t position = in.position();
  for (Column& column : columns_) {
    const std::uint64_t size = column.width * column.row_count;
    if (size > body.size() - position)
      return "column " + std::to_string(column.id) + " is longer than the chunk";
    column.planes = body.data() + position;
    position += size;
  }
  if (position != body.size()) return "bytes follow its last column";
  return {};
}

const Column* ColumnTable::find(Rows rows, std::uint8_t id) const {
  for (const Column& column : columns_) {
    if (column.rows == rows && column.id == id) return &column;
  }
  return nullptr;
}

ColumnCursor::ColumnCursor(const Column* column) : column_(column) {
  if (column != nullptr) previous_ = column->start;
}

void ColumnCursor::load_residuals(std::size_t count, std::uint64_t* values) {
  const std::byte* planes = column_->planes + row_;
  const std::size_t stride = column_->row_count;
  const std::uint64_t base = column_->base;
  row_ += count;
  switch (column_->width) {
    case 1:
      return join<1>(planes, stride, base, count, values);
    case 2:
      return join<2>(planes, stride, base, count, values);
    case 3:
      return join<3>(planes, stride, base, count, values);
    case 4:
      return join<4>(planes, stride, base, count, values);
    case 5:
      return join<5>(planes, stride, base, count, values);
    case 6:
      return join<6>(planes, stride, base, count, values);
    case 7:
      return join<7>(planes, stride, base, count, values);
    case 8:
      return join<8>(planes, stride, base, count, values);
    default:
      for (std::size_t i = 0; i < count; ++i) values[i] = base;
  }
}

void ColumnCursor::next(std::size_t count, std::uint64_t* values) {
  load_residuals(count, values);
  if (column_->predictor == Predictor::none) return;
  std::uint64_t previous = previous_;
  for (std::size_t i = 0; i < count; ++i) values[i] = previous += values[i];
  previous_ = previous;
}

void ColumnCursor::next_begins(std::size_t count, const std::uint64_t* durations, std::uint64_t* values) {
  if (!needs_durations(column_->predictor)) return next(count, values);
  load_residuals(count, values);
  std::uint64_t previous_end = previous_;
  if (column_->predictor == Predictor::gap) {
    for (std::size_t i = 0; i < count; ++i) {
      values[i] += previous_end;
      previous_end = values[i] + durations[i];
    }
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      previous_end += values[i];
      values[i] = previous_end - durations[i];
    }
  }
  previous_ = previous_end;
}

}  // namespace lockstep::trace::format

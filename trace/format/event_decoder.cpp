#include "trace/format/event_decoder.h"

namespace lockstep::trace::format {

std::string ArgumentDecoder::decode(const ColumnTable& table, std::uint32_t events) {
  arguments_.assign(table.argument_count(), Argument{});
  counts_.clear();
  event_ = 0;
  argument_ = 0;
  if (arguments_.empty()) return {};
  const std::array<const Column*, 4> columns = {
      table.find(Rows::events, kArgumentCountId), table.find(Rows::arguments, kArgumentKeyId),
      table.find(Rows::arguments, kArgumentTypeId), table.find(Rows::arguments, kArgumentBitsId)};
  for (const Column* column : columns) {
    if (column == nullptr || needs_durations(column->predictor)) return "it lacks columns of its arguments";
  }
  counts_.resize(events);
  ColumnCursor(columns[0]).next(events, counts_.data());
  std::uint64_t left = arguments_.size();
  for (const std::uint64_t count : counts_) {
    if (count > left) return "its numbers of arguments do not add up";
    left -= count;
  }
  if (left != 0) return "its numbers of arguments do not add up";
  std::vector<std::uint64_t> values(arguments_.size());
  ColumnCursor(columns[1]).next(values.size(), values.data());
  for (std::size_t i = 0; i < values.size(); ++i) arguments_[i].key = from_bits<StringId>(values[i]);
  ColumnCursor(columns[2]).next(values.size(), values.data());
  for (std::size_t i = 0; i < values.size(); ++i) arguments_[i].type = from_bits<ArgumentType>(values[i]);
  ColumnCursor(columns[3]).next(values.size(), values.data());
  for (std::size_t i = 0; i < values.size(); ++i) arguments_[i].bits = values[i];
  return {};
}

std::span<const Argument> ArgumentDecoder::next() {
  if (event_ >= counts_.size()) return {};
  const std::size_t count = counts_[event_++];
  const std::span<const Argument> found(arguments_.data() + argument_, count);
  argument_ += count;
  return found;
}

}  // namespace lockstep::trace::format

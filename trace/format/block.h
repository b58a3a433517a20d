// Events of one kind and lane, waiting to become a chunk: one array per column, so that each is coded in one
// go.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "trace/format/columns.h"
#include "trace/format/schema.h"

namespace lockstep::trace::format {

// May throw std::bad_alloc where it says so; otherwise nothing throws.
template <class E>
class Block {
 public:
  std::uint32_t size() const { return size_; }
  bool full() const { return size_ == capacity_; }
  std::size_t allocated_bytes() const {
    return stride_ * kBytesPerRow + counts_.capacity() * sizeof(std::uint32_t) +
           keys_.capacity() * sizeof(StringId) + types_.capacity() * sizeof(ArgumentType) +
           bits_.capacity() * sizeof(std::uint64_t);
  }
  std::size_t argument_count() const { return keys_.size(); }
  // Whether any event has some: then all of them have to say how many.
  bool has_arguments() const { return !counts_.empty(); }

  // Room for at least twice as many rows, up to `limit`. Throws.
  void grow(std::uint32_t limit) {
    const std::uint32_t capacity = std::min(limit, std::max(kFirstCapacity, 2 * capacity_));
    const std::size_t stride = (capacity + 7) / 8 * 8;  // keeps every column aligned
    auto columns = std::make_unique_for_overwrite<std::byte[]>(stride * kBytesPerRow);
    // Each column, moved to its place among longer ones.
    std::size_t bytes_before = 0;
    for_each_array([&](std::size_t bytes_per_value) {
      if (size_ > 0) {
        std::memcpy(&columns[bytes_before * stride], &columns_[bytes_before * stride_],
                    size_ * bytes_per_value);
      }
      bytes_before += bytes_per_value;
    });
    columns_ = std::move(columns);
    capacity_ = capacity;
    stride_ = stride;
  }

  // Precondition: not full().
  void append(const E& event) {
    // Copies: the compiler must take it that a store of bytes may change the members.
    std::byte* const columns = columns_.get();
    const std::size_t stride = stride_;
    const std::size_t row = size_;
    const auto set = [&](std::size_t before, auto value) {
      std::memcpy(columns + before * stride + row * sizeof value, &value, sizeof value);
    };
    std::size_t bytes_before = 0;
    for_each_field<E>([&](auto field) {
      using F = decltype(field);
      if constexpr (is_interval<F>) {
        set(bytes_before, event.*F::kBegin);
        set(bytes_before + sizeof(Nanoseconds), event.*F::kEnd);
      } else {
        set(bytes_before, event.*F::kPointer);
      }
      bytes_before += F::kBytesPerRow;
    });
    ++size_;
  }

  // The arguments of the event that will be appended next. Throws; then the block is as it was.
  void append_arguments(std::span<const Argument> arguments) {
    if (arguments.empty() && !has_arguments()) return;
    const std::size_t counts_before = counts_.size();
    const std::size_t keys_before = keys_.size();
    try {
      counts_.resize(size_);
      counts_.push_back(static_cast<std::uint32_t>(arguments.size()));
      for (const Argument& argument : arguments) {
        bits_.push_back(argument.bits);
        types_.push_back(argument.type);
        keys_.push_back(argument.key);
      }
    } catch (...) {
      counts_.resize(counts_before);
      keys_.resize(keys_before);
      types_.resize(keys_before);
      bits_.resize(keys_before);
      throw;
    }
  }

  // Smallest begin and greatest end. Precondition: size() > 0.
  std::pair<Nanoseconds, Nanoseconds> time_bounds() const {
    std::pair<Nanoseconds, Nanoseconds> bounds{};
    std::size_t bytes_before = 0;
    bool found = false;
    for_each_field<E>([&](auto field) {
      using F = decltype(field);
      if constexpr (is_interval<F>) {
        bounds.first = *std::min_element(begins(bytes_before), begins(bytes_before) + size_);
        bounds.second = *std::max_element(begins(bytes_before + 8), begins(bytes_before + 8) + size_);
      } else if (!found && std::is_same_v<typename F::Value, Nanoseconds>) {
        // The first time of an event without an interval is the one it stands at.
        const auto [smallest, greatest] =
            std::minmax_element(begins(bytes_before), begins(bytes_before) + size_);
        bounds = {*smallest, *greatest};
      }
      found = true;
      bytes_before += F::kBytesPerRow;
    });
    return bounds;
  }

  // Codes all columns. Throws.
  void encode(ColumnEncoder& encoder) const {
    encoder.start(size_, keys_.size());
    std::size_t bytes_before = 0;
    for_each_field<E>([&](auto field) {
      using F = decltype(field);
      if constexpr (is_interval<F>) {
        encoder.add_interval(F::kDurationId, F::kBeginId, begins(bytes_before), begins(bytes_before + 8));
      } else {
        encoder.add(F::kId, Rows::events, array<typename F::Value>(bytes_before));
      }
      bytes_before += F::kBytesPerRow;
    });
    if (keys_.empty()) return;
    encoder.add(kArgumentCountId, Rows::events, counts_.data());
    encoder.add(kArgumentKeyId, Rows::arguments, keys_.data());
    encoder.add(kArgumentTypeId, Rows::arguments, types_.data());
    encoder.add(kArgumentBitsId, Rows::arguments, bits_.data());
  }

  void clear() {
    size_ = 0;
    counts_.clear();
    keys_.clear();
    types_.clear();
    bits_.clear();
  }
  void release() { *this = Block(); }

 private:
  static constexpr std::uint32_t kFirstCapacity = 64;
  static constexpr std::size_t kBytesPerRow = [] {
    std::size_t bytes = 0;
    for_each_field<E>([&](auto field) { bytes += decltype(field)::kBytesPerRow; });
    return bytes;
  }();

  template <class Visit>
  static void for_each_array(Visit visit) {
    for_each_field<E>([&](auto field) {
      using F = decltype(field);
      if constexpr (is_interval<F>) {
        visit(sizeof(Nanoseconds));
        visit(sizeof(Nanoseconds));
      } else {
        visit(F::kBytesPerRow);
      }
    });
  }
  // The array that stands after columns of `bytes_before` bytes a row.
  template <class T>
  const T* array(std::size_t bytes_before) const {
    return reinterpret_cast<const T*>(columns_.get() + bytes_before * stride_);
  }
  const Nanoseconds* begins(std::size_t bytes_before) const { return array<Nanoseconds>(bytes_before); }

  std::unique_ptr<std::byte[]> columns_;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
  std::size_t stride_ = 0;             // rows from one column to the next
  std::vector<std::uint32_t> counts_;  // arguments of each event; empty if none has any
  std::vector<StringId> keys_;
  std::vector<ArgumentType> types_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace lockstep::trace::format

// The ids of the names that were seen last: a program says the same few again and again, and this is a
// fraction of what asking the writer's table of all texts costs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "trace/events/event.h"

namespace lockstep::tracer::nvtx {

// Texts as they stand in a record (tracer/inject/ring/ring.h): up to the next multiple of eight bytes there
// is something to read.
class NameCache {
 public:
  static constexpr std::uint32_t kLongest = 56;

  // 0 if it is not kept.
  trace::StringId find(const std::byte* text, std::uint32_t bytes) const noexcept {
    if (bytes == 0 || bytes > kLongest) return 0;
    const Entry& entry = entries_[place(text, bytes)];
    std::uint64_t different = entry.bytes ^ bytes;
    std::uint32_t at = 0;
    for (; at + kWord < bytes; at += kWord) different |= entry.words[at / kWord] ^ word(text + at);
    different |= entry.words[at / kWord] ^ last_word(text, bytes);
    return different == 0 ? entry.id : 0;
  }
  // In the place of another one, if need be.
  void keep(const std::byte* text, std::uint32_t bytes, trace::StringId id) noexcept {
    if (bytes == 0 || bytes > kLongest) return;
    Entry& entry = entries_[place(text, bytes)];
    entry.id = id;
    entry.bytes = bytes;
    std::uint32_t at = 0;
    for (; at + kWord < bytes; at += kWord) entry.words[at / kWord] = word(text + at);
    entry.words[at / kWord] = last_word(text, bytes);
  }

 private:
  static constexpr std::uint32_t kWord = 8;
  static constexpr unsigned kPlaceBits = 8;
  struct Entry {
    trace::StringId id = 0;
    std::uint32_t bytes = 0;
    std::array<std::uint64_t, kLongest / kWord> words{};
  };

  static std::uint64_t word(const std::byte* text) noexcept {
    std::uint64_t value = 0;
    std::memcpy(&value, text, sizeof value);
    return value;
  }
  // The last one to eight bytes, without what follows them.
  static std::uint64_t last_word(const std::byte* text, std::uint32_t bytes) noexcept {
    const std::uint32_t begin = (bytes - 1) / kWord * kWord;
    return word(text + begin) & ~std::uint64_t{0} >> 8U * (kWord - (bytes - begin));
  }
  // By both ends of the text, where names differ: "layer.12", "12.forward".
  static std::size_t place(const std::byte* text, std::uint32_t bytes) noexcept {
    constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;
    const std::uint64_t first = bytes > kWord ? word(text) : 0;
    return ((first + bytes) * kGoldenRatio ^ last_word(text, bytes)) * kGoldenRatio >> (64U - kPlaceBits);
  }

  std::array<Entry, std::size_t{1} << kPlaceBits> entries_{};
};

}  // namespace lockstep::tracer::nvtx

// Little-endian integers, variable-length integers and length-prefixed byte strings: the small change of the
// file format.
//
// Variable-length integers hold 7 bits a byte, lowest first, the top bit set on all but the last byte
// (LEB128); at most 10 bytes. Signed ones are zigzag-coded first: 0, -1, 1, -2, … become 0, 1, 2, 3, …
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace lockstep::trace::format {

template <class T>
constexpr T to_little_endian(T value) {
  static_assert(std::is_unsigned_v<T>);
  if constexpr (std::endian::native == std::endian::little || sizeof(T) == 1) {
    return value;
  } else {
    T swapped = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      swapped = static_cast<T>(swapped << 8) | static_cast<T>(value & 0xff);
      value = static_cast<T>(value >> 8);
    }
    return swapped;
  }
}

// The integer that stands at `from`, which need not be aligned.
template <class T>
T load(const std::byte* from) {
  std::make_unsigned_t<T> value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<T>(to_little_endian(value));
}

template <class T>
void store(std::byte* to, T value) {
  const auto raw = to_little_endian(static_cast<std::make_unsigned_t<T>>(value));
  std::memcpy(to, &raw, sizeof raw);
}

constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0);
}

constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1) ^ (0 - (value & 1)));
}

// Appends to a byte vector. May throw std::bad_alloc.
class ByteWriter {
 public:
  explicit ByteWriter(std::vector<std::byte>& out) : out_(out) {}

  void u8(std::uint8_t value) { out_.push_back(static_cast<std::byte>(value)); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) u8(static_cast<std::uint8_t>(value | 0x80));
    u8(static_cast<std::uint8_t>(value));
  }
  void signed_varint(std::int64_t value) { varint(zigzag(value)); }
  void bytes(std::string_view text) {
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    out_.insert(out_.end(), begin, begin + text.size());
  }
  void text(std::string_view text) {
    varint(text.size());
    bytes(text);
  }

 private:
  std::vector<std::byte>& out_;
};

// Reads what ByteWriter wrote. Past the end, or at a malformed integer, every read yields 0 or "" and ok() is
// false.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> in) : in_(in) {}

  bool ok() const { return ok_; }
  std::size_t position() const { return position_; }
  std::size_t remaining() const { return in_.size() - position_; }

  std::uint8_t u8() {
    if (remaining() == 0) return fail();
    return static_cast<std::uint8_t>(in_[position_++]);
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (remaining() == 0) return fail();
      const auto byte = static_cast<std::uint8_t>(in_[position_++]);
      const std::uint64_t bits = byte & 0x7f;
      if (shift == 63 && bits > 1) return fail();
      value |= bits << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return fail();
  }
  std::int64_t signed_varint() { return unzigzag(varint()); }
  std::string_view bytes(std::uint64_t size) {
    if (size > remaining()) {
      fail();
      return {};
    }
    const auto* begin = reinterpret_cast<const char*>(in_.data() + position_);
    position_ += size;
    return {begin, static_cast<std::size_t>(size)};
  }
  std::string_view text() { return bytes(varint()); }

 private:
  std::uint8_t fail() {
    ok_ = false;
    position_ = in_.size();
    return 0;
  }

  std::span<const std::byte> in_;
  std::size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace lockstep::trace::format

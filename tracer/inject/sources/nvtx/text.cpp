#include "tracer/inject/sources/nvtx/text.h"

#include <cstdint>
#include <cstring>

namespace lockstep::tracer::nvtx {

namespace {

constexpr std::uint32_t kReplacement = 0xFFFD;

void append_code_point(std::uint32_t c, std::string& out) {
  const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
  if (c > 0x10FFFF || surrogate) c = kReplacement;
  const auto byte = [&out](std::uint32_t value) { out.push_back(static_cast<char>(value)); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xC0U | (c >> 6U));
    byte(0x80U | (c & 0x3FU));
  } else if (c < 0x10000) {
    byte(0xE0U | (c >> 12U));
    byte(0x80U | ((c >> 6U) & 0x3FU));
    byte(0x80U | (c & 0x3FU));
  } else {
    byte(0xF0U | (c >> 18U));
    byte(0x80U | ((c >> 12U) & 0x3FU));
    byte(0x80U | ((c >> 6U) & 0x3FU));
    byte(0x80U | (c & 0x3FU));
  }
}

template <class Unit>
Unit read_unit(const std::byte* data, std::size_t index) {
  Unit unit{};
  std::memcpy(&unit, data + index * sizeof unit, sizeof unit);
  return unit;
}

}  // namespace

void append_utf8_from_utf16(const std::byte* data, std::size_t bytes, std::string& out) {
  const std::size_t count = bytes / 2;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t c = read_unit<std::uint16_t>(data, i);
    if (c >= 0xD800 && c < 0xDC00 && i + 1 < count) {
      const std::uint32_t low = read_unit<std::uint16_t>(data, i + 1);
      if (low >= 0xDC00 && low <= 0xDFFF) {
        c = 0x10000 + ((c - 0xD800) << 10U) + (low - 0xDC00);
        ++i;
      }
    }
    append_code_point(c, out);
  }
}

void append_utf8_from_utf32(const std::byte* data, std::size_t bytes, std::string& out) {
  for (std::size_t i = 0; i < bytes / 4; ++i) append_code_point(read_unit<std::uint32_t>(data, i), out);
}

void append_utf8_from_wide(const std::byte* data, std::size_t bytes, std::string& out) {
  if constexpr (sizeof(wchar_t) == 2) {
    append_utf8_from_utf16(data, bytes, out);
  } else {
    append_utf8_from_utf32(data, bytes, out);
  }
}

}  // namespace lockstep::tracer::nvtx

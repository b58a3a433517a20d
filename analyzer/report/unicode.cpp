#include "analyzer/report/unicode.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.h"

namespace lockstep::analyzer {
namespace {

using Interval = std::pair<char32_t, char32_t>;

// The blocks of combining marks and of wide characters (Unicode's EastAsianWidth W and F), coarse: enough to
// keep columns of a report aligned.
constexpr std::array<Interval, 9> kCombining{{{0x0300, 0x036F},
                                              {0x0483, 0x0489},
                                              {0x0591, 0x05BD},
                                              {0x064B, 0x065F},
                                              {0x1AB0, 0x1AFF},
                                              {0x1DC0, 0x1DFF},
                                              {0x200B, 0x200F},
                                              {0x20D0, 0x20FF},
                                              {0xFE00, 0xFE0F}}};
constexpr std::array<Interval, 10> kWide{{{0x1100, 0x115F},
                                          {0x2E80, 0x303E},
                                          {0x3041, 0x33FF},
                                          {0x3400, 0x4DBF},
                                          {0x4E00, 0x9FFF},
                                          {0xA000, 0xA4CF},
                                          {0xAC00, 0xD7A3},
                                          {0xF900, 0xFAFF},
                                          {0xFE30, 0xFF60},
                                          {0x1F300, 0x1FAFF}}};

bool is_in(char32_t value, const auto& intervals) {
  return std::any_of(intervals.begin(), intervals.end(),
                     [&](const Interval& i) { return value >= i.first && value <= i.second; });
}

std::size_t width_of(char32_t value) {
  if (is_in(value, kCombining)) return 0;
  if (is_in(value, kWide) || (value >= 0x20000 && value <= 0x3FFFD)) return 2;
  return 1;
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    if (!point.valid) return false;
    text.remove_prefix(point.length);
  }
  return true;
}

std::string to_valid_utf8(std::string_view text) {
  if (is_valid_utf8(text)) return std::string(text);
  std::string out;
  for_each_code_point(text, [&](const CodePoint& point, std::string_view bytes) {
    if (point.valid) {
      out += bytes;
    } else {
      out += "\uFFFD";
    }
  });
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for_each_code_point(text,
                      [&](const CodePoint& point, std::string_view) { width += width_of(point.value); });
  return width;
}

std::string fit(std::string_view text, std::size_t columns, bool ascii) {
  if (display_width(text) <= columns) return std::string(text);
  const std::string_view ellipsis = ascii ? "..." : "…";
  const std::size_t mark = display_width(ellipsis);
  if (columns < mark) return std::string(columns, '.');
  std::string out;
  std::size_t used = 0;
  bool full = false;
  for_each_code_point(text, [&](const CodePoint& point, std::string_view bytes) {
    full = full || used + width_of(point.value) + mark > columns;
    if (full) return;
    out += bytes;
    used += width_of(point.value);
  });
  out += ellipsis;
  return out;
}

std::string to_ascii(std::string_view text) {
  static constexpr std::array<std::pair<char32_t, const char*>, 12> kSpellings{{
      {U'µ', "u"},
      {U'·', "-"},
      {U'…', "..."},
      {U'±', "+-"},
      {U'→', "->"},
      {U'–', "-"},
      {U'—', "-"},
      {U'×', "x"},
      {U'−', "-"},
      {U'’', "'"},
      {U'≈', "~"},
      {U'Ψ', "P"},
  }};
  std::string out;
  for_each_code_point(text, [&](const CodePoint& point, std::string_view bytes) {
    if (point.valid && point.value < 0x80) {
      out += bytes;
      return;
    }
    const auto* spelling = std::find_if(kSpellings.begin(), kSpellings.end(),
                                        [&](const auto& s) { return s.first == point.value; });
    out += spelling != kSpellings.end() ? spelling->second : "?";
  });
  return out;
}

}  // namespace lockstep::analyzer

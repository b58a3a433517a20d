#include "analyzer/import/kineto/decimal_time.h"

#include <algorithm>
#include <cstddef>

#include "base/numbers.h"

namespace lockstep::analyzer::kineto {
namespace {

std::string_view unquoted(std::string_view text) {
  const auto strip = [&text] {
    while (!text.empty() &&
           (text.back() == ' ' || text.back() == '\n' || text.back() == '\r' || text.back() == '\t'))
      text.remove_suffix(1);
    while (!text.empty() &&
           (text.front() == ' ' || text.front() == '\n' || text.front() == '\r' || text.front() == '\t'))
      text.remove_prefix(1);
  };
  strip();
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
    strip();
  }
  return text;
}

// A number's text taken apart: value = ±0.d₁d₂d₃… · 10^point, where d runs over whole and then fraction.
struct Decimal {
  bool negative = false;
  std::string_view whole, fraction;
  std::int64_t point = 0;

  std::int64_t digits() const { return static_cast<std::int64_t>(whole.size() + fraction.size()); }
  int digit(std::int64_t i) const {  // 0 outside of what is written
    if (i < 0 || i >= digits()) return 0;
    const auto at = static_cast<std::size_t>(i);
    return (at < whole.size() ? whole[at] : fraction[at - whole.size()]) - '0';
  }
};

std::optional<Decimal> take_apart(std::string_view text) {
  Decimal number;
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return text.substr(begin, at - begin);
  };
  if (at < text.size() && text[at] == '-') {
    number.negative = true;
    ++at;
  }
  number.whole = digits();
  if (number.whole.empty() || (number.whole.size() > 1 && number.whole[0] == '0')) return std::nullopt;
  if (at < text.size() && text[at] == '.') {
    ++at;
    number.fraction = digits();
    if (number.fraction.empty()) return std::nullopt;
  }
  std::int64_t exponent = 0;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    bool down = false;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) down = text[at++] == '-';
    const std::string_view power = digits();
    if (power.empty()) return std::nullopt;
    // Beyond this, every number is zero or too large, whatever its digits: a text is shorter than 2^40.
    for (const char c : power)
      exponent = std::min<std::int64_t>(exponent * 10 + (c - '0'), std::int64_t{1} << 41);
    if (down) exponent = -exponent;
  }
  if (at != text.size()) return std::nullopt;
  number.point = static_cast<std::int64_t>(number.whole.size()) + exponent;
  return number;
}

// value · 10^scale, rounded to nearest, ties to even.
std::optional<std::int64_t> rounded(const Decimal& number, std::int64_t scale) {
  const std::int64_t kept = number.point + scale;  // this many digits stand before the point
  std::uint64_t magnitude = 0;
  std::int64_t i = 0;
  while (i < std::min(kept, number.digits()) && number.digit(i) == 0) ++i;
  if (i < number.digits() && kept - i > 19)
    return std::nullopt;  // 20 digits or more; i is not a leading zero
  for (; i < kept && (i < number.digits() || magnitude != 0); ++i) {
    if (__builtin_mul_overflow(magnitude, std::uint64_t{10}, &magnitude) ||
        __builtin_add_overflow(magnitude, static_cast<std::uint64_t>(number.digit(i)), &magnitude))
      return std::nullopt;
  }
  const int first = number.digit(kept);
  bool beyond = false;
  for (std::int64_t j = std::max<std::int64_t>(kept + 1, 0); j < number.digits() && !beyond; ++j)
    beyond = number.digit(j) != 0;
  if (first > 5 || (first == 5 && (beyond || magnitude % 2 == 1))) ++magnitude;
  const std::uint64_t limit = std::uint64_t{1} << 63;
  if (number.negative) {
    if (magnitude > limit) return std::nullopt;
    return static_cast<std::int64_t>(~magnitude + 1);
  }
  if (magnitude >= limit) return std::nullopt;
  return static_cast<std::int64_t>(magnitude);
}

}  // namespace

std::optional<std::int64_t> microseconds_to_ns(std::string_view text) {
  // The common case, [digits] or [digits].[up to 3 digits], without any of the above: half of an import's
  // numbers are times.
  std::uint64_t value = 0;
  std::size_t at = 0;
  while (at < text.size() && is_digit(text[at]))
    value = value * 10 + static_cast<std::uint64_t>(text[at++] - '0');
  if (at > 0 && at <= 16 && (at == 1 || text[0] != '0')) {
    std::size_t end = at;
    value *= 1000;
    if (end < text.size() && text[end] == '.') {
      std::uint64_t unit = 100;
      for (++end; end < text.size() && is_digit(text[end]) && unit != 0; ++end, unit /= 10)
        value += unit * static_cast<std::uint64_t>(text[end] - '0');
      if (end == at + 1) end = std::string_view::npos;  // "1." is no number
    }
    if (end == text.size() && value <= INT64_MAX) return static_cast<std::int64_t>(value);
  }
  const std::optional<Decimal> number = take_apart(unquoted(text));
  return number ? rounded(*number, 3) : std::nullopt;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  // The common case: a few digits and nothing else.
  if (!text.empty() && text.size() <= 18 && (text.size() == 1 || text[0] != '0')) {
    std::int64_t value = 0;
    std::size_t at = 0;
    while (at < text.size() && is_digit(text[at])) value = value * 10 + (text[at++] - '0');
    if (at == text.size()) return value;
  }
  const std::optional<Decimal> number = take_apart(unquoted(text));
  if (!number) return std::nullopt;
  for (std::int64_t i = std::max<std::int64_t>(number->point, 0); i < number->digits(); ++i)
    if (number->digit(i) != 0) return std::nullopt;
  if (number->point < 0)
    for (std::int64_t i = 0; i < number->digits(); ++i)
      if (number->digit(i) != 0) return std::nullopt;
  return rounded(*number, 0);
}

}  // namespace lockstep::analyzer::kineto

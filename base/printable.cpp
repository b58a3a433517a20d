#include "base/printable.h"

#include "base/utf8.h"

namespace lockstep {

std::string printable(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for_each_code_point(text, [&](const CodePoint& point, std::string_view bytes) {
    // C0, DEL and C1, of which 0x9B is "escape [" in one.
    const bool control = point.value < 0x20 || (point.value >= 0x7F && point.value <= 0x9F);
    if (!point.valid) {
      out += "\uFFFD";
    } else if (point.value == '\n') {
      out += "\\n";
    } else if (point.value == '\t') {
      out += "\\t";
    } else if (control) {
      out += "\\x";
      out += kDigits[point.value >> 4];
      out += kDigits[point.value & 15];
    } else {
      out += bytes;
    }
  });
  return out;
}

}  // namespace lockstep

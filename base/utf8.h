// UTF-8, a code point at a time, of text that may hold any bytes.
#pragma once

#include <cstddef>
#include <string_view>

namespace lockstep {

struct CodePoint {
  char32_t value = 0;
  std::size_t length = 1;  // bytes
  bool valid = false;
};

// The code point at the start of `text`, which is not empty. A byte that is not part of well-formed UTF-8 is
// one that is not valid.
CodePoint first_code_point(std::string_view text);

// Calls visit(code point, its bytes) for each.
template <class Visit>
void for_each_code_point(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    visit(point, text.substr(0, point.length));
    text.remove_prefix(point.length);
  }
}

}  // namespace lockstep

// Lists of words, for people.
#pragma once

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

namespace lockstep {

// "a, b or c" with ", " and " or "; of a range of strings or string views.
template <class Words>
std::string join_words(const Words& words, std::string_view between, std::string_view before_last) {
  std::string text;
  std::size_t left = std::size(words);
  for (const std::string_view word : words) {
    if (left < std::size(words)) text += left == 1 ? before_last : between;
    text += word;
    --left;
  }
  return text;
}

template <class Words>
std::string join_words(const Words& words, std::string_view between) {
  return join_words(words, between, between);
}

}  // namespace lockstep

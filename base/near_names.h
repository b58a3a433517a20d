// What somebody meant who mistyped a name.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

// How many letters have to be put in, left out or changed (Levenshtein). O(a · b).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The closest of `names`, a range of strings or string views, if it is close enough to be a typing error or
// begins so. Nothing for a word longer than any name is.
template <class Names>
std::optional<std::string> nearest_name(std::string_view word, const Names& names) {
  constexpr std::size_t kLongestWord = 64;
  std::optional<std::string> best;
  if (word.size() > kLongestWord) return best;
  std::size_t best_distance = word.size() / 3 + 2;  // one more than what passes for a typing error
  for (const auto& candidate : names) {
    const std::string_view name = candidate;
    const std::size_t distance = edit_distance(word, name);
    const bool abbreviation = word.size() >= 2 && name.substr(0, word.size()) == word;
    if (!abbreviation && distance >= best_distance) continue;
    best = std::string(name);
    best_distance = abbreviation ? 0 : distance;
  }
  return best;
}

}  // namespace lockstep

#include "analyzer/import/rank/file_name.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace lockstep::analyzer {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<std::int32_t> number_at(std::string_view text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() && is_digit(text[end])) ++end;
  std::int32_t number = 0;
  if (end == from || std::from_chars(text.data() + from, text.data() + end, number).ec != std::errc())
    return std::nullopt;
  return number;
}

}  // namespace

std::optional<std::int32_t> rank_in_file_name(std::string_view path) {
  if (const std::size_t slash = path.rfind('/'); slash != std::string_view::npos)
    path.remove_prefix(slash + 1);
  std::string name(path);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
  for (const std::string_view word : {"rank", "worker"}) {
    for (std::size_t at = name.rfind(word); at != std::string::npos;
         at = at == 0 ? std::string::npos : name.rfind(word, at - 1)) {
      std::size_t number = at + word.size();
      while (number < name.size() && (name[number] == '-' || name[number] == '_' || name[number] == '.' ||
                                      name[number] == '=' || name[number] == ' '))
        ++number;
      if (const auto rank = number_at(name, number)) return rank;
    }
  }
  // "trace_3.json": the digits right before the first dot, if a separator or nothing stands before them.
  const std::size_t dot = std::min(name.find('.'), name.size());
  std::size_t begin = dot;
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  if (begin == dot || (begin > 0 && name[begin - 1] != '_' && name[begin - 1] != '-')) return std::nullopt;
  return number_at(name, begin);
}

}  // namespace lockstep::analyzer

#include "analyzer/import/rank/file_name.h"

#include <algorithm>
#include <string>

#include "base/numbers.h"

namespace lockstep::analyzer {
namespace {

std::optional<std::int32_t> number_at(std::string_view text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() && is_digit(text[end])) ++end;
  return parse_number<std::int32_t>(text.substr(from, end - from));
}

// Takes the digits at the beginning away; without leading zeros.
std::string_view take_digits(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

// A name ends at its '/' or first '.': what goes on comes later.
int order_of(char c) {
  if (c == '/') return 0;
  if (c == '.') return 1;
  return 2 + static_cast<unsigned char>(c);
}

}  // namespace

bool name_comes_before(std::string_view a, std::string_view b) {
  std::string_view left = a, right = b;
  while (!left.empty() && !right.empty()) {
    if (is_digit(left.front()) && is_digit(right.front())) {
      const std::string_view first = take_digits(left), second = take_digits(right);
      if (first.size() != second.size()) return first.size() < second.size();
      if (first != second) return first < second;
      continue;
    }
    if (left.front() != right.front()) return order_of(left.front()) < order_of(right.front());
    left.remove_prefix(1);
    right.remove_prefix(1);
  }
  if (left.empty() != right.empty()) return left.empty();
  return a < b;  // "01" and "1"
}

std::optional<NumberInName> number_in_file_name(std::string_view path) {
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
      // Profilers call files after host and process: "gpu-worker_30211.….json" is of no rank 30211.
      if (const auto rank = number_at(name, number))
        return NumberInName{*rank, word == "rank" || *rank < kMaxUnsaidRanks};
    }
  }
  // "trace_3.json": the digits right before the first dot, if a separator or nothing stands before them.
  const std::size_t dot = std::min(name.find('.'), name.size());
  std::size_t begin = dot;
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  if (begin == dot || (begin > 0 && name[begin - 1] != '_' && name[begin - 1] != '-')) return std::nullopt;
  const std::optional<std::int32_t> number = number_at(name, begin);
  return number ? std::optional(NumberInName{*number, false}) : std::nullopt;
}

std::optional<HandlerName> handler_file_name(std::string_view path) {
  if (const std::size_t slash = path.rfind('/'); slash != std::string_view::npos)
    path.remove_prefix(slash + 1);
  for (const std::string_view end : {".gz", ".pt.trace.json"}) {
    if (path.ends_with(end))
      path.remove_suffix(end.size());
    else if (end != ".gz")
      return std::nullopt;
  }
  // A time in ms, or in ns: of this century.
  constexpr std::size_t kShortestTime = 12;
  const auto take_last_digits = [&path](char before) {
    std::size_t begin = path.size();
    while (begin > 0 && is_digit(path[begin - 1])) --begin;
    const std::string_view digits = path.substr(begin);
    if (digits.empty() || begin < 2 || path[begin - 1] != before) return std::string_view();
    path.remove_suffix(digits.size() + 1);
    return digits;
  };
  if (take_last_digits('.').size() < kShortestTime) return std::nullopt;
  const std::optional<std::int64_t> process = parse_number<std::int64_t>(take_last_digits('_'));
  if (!process) return std::nullopt;
  HandlerName name{std::string(path), *process};
  std::string_view last = path.substr(path.size() - std::min<std::size_t>(path.size(), 4));
  if (last == "rank" || last == "Rank" || last == "RANK") return std::nullopt;
  return name;
}

std::optional<std::int32_t> rank_in_file_name(std::string_view path) {
  const std::optional<NumberInName> found = number_in_file_name(path);
  if (!found || found->number >= (found->says_rank ? kMaxRanks : kMaxUnsaidRanks)) return std::nullopt;
  return found->number;
}

}  // namespace lockstep::analyzer

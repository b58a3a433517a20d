#include "cli/analysis/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "base/numbers.h"

namespace lockstep::cli {

Result<StepRange> parse_step_range(const std::string& text) {
  const Error wrong{fmt::format("--steps {}: give a step or a range of steps, as in 3, 3:5, 3: or :5", text)};
  const std::size_t colon = text.find(':');
  const std::string_view first = std::string_view(text).substr(0, colon);
  StepRange range;
  const auto read = [](std::string_view word, std::optional<long long>& number) {
    if (word.empty()) return true;
    number = parse_number<long long>(word);
    return number.has_value();
  };
  if (text.empty() || !read(first, range.first)) return wrong;
  if (colon == std::string::npos) {
    range.last = range.first;
  } else if (text.size() == 1 || !read(std::string_view(text).substr(colon + 1), range.last)) {
    return wrong;
  }
  if (range.first && range.last && *range.first > *range.last) {
    return Error{fmt::format("--steps {}: the first step is greater than the last", text)};
  }
  return range;
}

Result<std::vector<analyzer::RankRange>> parse_rank_list(const std::string& flag, const std::string& text) {
  const Error wrong{fmt::format("{} {}: give ranks and ranges of ranks, as in 3, 0,4 or 0:3,8", flag, text)};
  std::vector<analyzer::RankRange> ranks;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = std::string_view(text).substr(begin, end - begin);
    const std::size_t between = part.find_first_of(":-");
    const auto first = parse_number<std::int32_t>(part.substr(0, between), 0);
    const auto last =
        between == std::string_view::npos ? first : parse_number<std::int32_t>(part.substr(between + 1), 0);
    if (!first || !last) return wrong;
    if (*first > *last)
      return Error{fmt::format("{} {}: the first rank of {} is greater than the last", flag, text, part)};
    ranks.push_back({*first, *last});
    begin = end + 1;
  }
  return ranks;
}

Result<std::size_t> parse_rows(const std::string& flag, const std::string& text) {
  if (text == "all") return std::numeric_limits<std::size_t>::max();
  const auto rows = parse_number<std::size_t>(text, 1);
  if (!rows) return Error{fmt::format("{} {}: give a number from 1 on, or all", flag, text)};
  return *rows;
}

}  // namespace lockstep::cli

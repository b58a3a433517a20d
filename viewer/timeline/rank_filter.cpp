#include "viewer/timeline/rank_filter.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "analyzer/report/range_text.h"
#include "base/numbers.h"
#include "viewer/timeline/rank_order.h"

namespace lockstep::viewer {

namespace {

using Range = std::pair<std::int64_t, std::int64_t>;

std::optional<std::int64_t> number_in(std::string_view text) {
  return parse_number<std::int64_t>(text, 0);
}

// "3", "7:12", "7:", ":12". Its end may come before its begin.
std::optional<Range> range_in(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    const auto number = number_in(text);
    return number ? std::optional(Range{*number, *number}) : std::nullopt;
  }
  const std::string_view from = text.substr(0, colon), to = text.substr(colon + 1);
  if (from.empty() && to.empty()) return std::nullopt;
  const auto first = from.empty() ? std::optional<std::int64_t>(0) : number_in(from);
  const auto last = to.empty() ? std::optional(std::numeric_limits<std::int64_t>::max()) : number_in(to);
  if (!first || !last) return std::nullopt;
  return Range{*first, *last};
}

Error no_filter(const std::string& word) {
  return Error{fmt::format(
      "'{}' is no filter of ranks: write for example 3,7:12 or host=node2 or group=dp or late", word)};
}

Status take(const std::string& word, RankFilter& filter) {
  const std::size_t equals = word.find('=');
  const std::string key = word.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
  if (key == "late") {
    if (equals == std::string::npos) {
      filter.late = true;
      return {};
    }
    const Result<analyzer::Nanoseconds> longer = analyzer::parse_time(value);
    if (!longer.ok()) return longer.error();
    filter.late_ns = longer.value();
    return {};
  }
  if (key == "host" || key == "group") {
    if (value.empty()) return no_filter(word);
    (key == "host" ? filter.hosts : filter.groups).push_back(value);
    return {};
  }
  std::istringstream parts(key == "rank" ? value : word);
  bool any = false;
  for (std::string part; std::getline(parts, part, ',');) {
    if (part.empty()) continue;
    const auto range = range_in(part);
    if (!range) return no_filter(word);
    if (range->first > range->second)
      return Error{fmt::format("'{}' ends before it begins: write {}:{}", part, range->second, range->first)};
    filter.ranks.push_back(*range);
    any = true;
  }
  return any ? Status() : Status(no_filter(word));
}

bool fits(const std::string& pattern, const std::string& text) {
  return ::fnmatch(pattern.c_str(), text.c_str(), FNM_CASEFOLD) == 0;
}

}  // namespace

Result<RankFilter> parse_rank_filter(const std::string& text) {
  RankFilter filter;
  std::istringstream stream(text);
  for (std::string word; stream >> word;)
    if (const Status taken = take(word, filter); !taken.ok()) return taken.error();
  return filter;
}

std::vector<bool> passing(const RankFilter& filter, const JobFacts& facts) {
  const auto any_of = [](const auto& all, const auto& holds) {
    return all.empty() || std::any_of(all.begin(), all.end(), holds);
  };
  std::vector<bool> in_group(facts.ranks.size(), filter.groups.empty());
  for (const GroupFacts& group : facts.groups) {
    if (filter.groups.empty()) break;
    const auto named = [&](const std::string& pattern) {
      return fits(pattern, group.name) || fits(pattern, group.kind);
    };
    if (any_of(filter.groups, named))
      for (const std::uint32_t member : group.members) in_group[member] = true;
  }
  std::vector<bool> result;
  for (std::size_t i = 0; i < facts.ranks.size(); ++i) {
    const RankFacts& rank = facts.ranks[i];
    const auto contains = [&](const Range& range) {
      return rank.rank >= range.first && rank.rank <= range.second;
    };
    const auto is_host = [&](const std::string& host) { return fits(host, rank.host); };
    result.push_back(in_group[i] && any_of(filter.ranks, contains) && any_of(filter.hosts, is_host) &&
                     (!filter.late || rank.is_late) && (!filter.late_ns || rank.lost_ns > *filter.late_ns));
  }
  return result;
}

}  // namespace lockstep::viewer

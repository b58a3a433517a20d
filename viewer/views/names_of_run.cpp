#include "viewer/views/names_of_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "viewer/timeline/rank_filter.h"
#include "viewer/timeline/standings.h"
#include "viewer/views/search.h"

namespace lockstep::viewer {

namespace {

// "dp, tp and 30 more": nobody reads all hosts of a thousand.
std::string listed(std::vector<std::string> names) {
  constexpr std::size_t kShown = 12;
  const std::size_t more = names.size() > kShown + 1 ? names.size() - kShown : 0;
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
}

void add_new(std::vector<std::string>& names, const std::string& name) {
  if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

std::string hosts_in_words(const Runs& runs) {
  std::vector<std::string> hosts;
  for (const Scene* const run : runs)
    for (const RankFacts& rank : run->facts().ranks) add_new(hosts, rank.host);
  return hosts.empty() ? "the run names no hosts" : "hosts are " + listed(std::move(hosts));
}

std::vector<std::string> kinds_of_groups(const Runs& runs) {
  std::vector<std::string> kinds;
  for (const Scene* const run : runs)
    for (const GroupFacts& group : run->facts().groups) add_new(kinds, group.kind);
  return kinds;
}

std::string groups_in_words(const Runs& runs) {
  std::vector<std::string> kinds = kinds_of_groups(runs);
  return kinds.empty() ? "the run names no process groups" : "process groups are " + listed(std::move(kinds));
}

std::string steps_in_words(const Scene& run) {
  const std::vector<std::int64_t>& steps = run.report().steps_present;
  return steps.empty() ? "the run has no steps"
                       : fmt::format("steps are {} to {}", steps.front(), steps.back());
}

bool any_passes(const RankFilter& filter, const Runs& runs) {
  return std::ranges::any_of(runs, [&filter](const Scene* run) {
    const std::vector<bool> pass = passing(filter, run->facts());
    return std::find(pass.begin(), pass.end(), true) != pass.end();
  });
}

// Ranks, hosts and groups of the filter that no rank is of, each looked at by itself: "3,99" still shows 3.
RankFilter parts_without_ranks(const RankFilter& filter, const Runs& runs) {
  RankFilter without;
  const auto keep_without = [&runs, &without, &filter](auto RankFilter::*kind) {
    for (const auto& part : filter.*kind) {
      RankFilter alone;
      (alone.*kind).push_back(part);
      if (!any_passes(alone, runs)) (without.*kind).push_back(part);
    }
  };
  keep_without(&RankFilter::ranks);
  keep_without(&RankFilter::hosts);
  keep_without(&RankFilter::groups);
  return without;
}

// "99", "40:", "host=c": as they are typed.
std::vector<std::string> names_in_words(const RankFilter& filter) {
  std::vector<std::string> words;
  for (const auto& [first, last] : filter.ranks) {
    const bool open = last == std::numeric_limits<std::int64_t>::max();
    words.push_back(first == last ? fmt::format("{}", first)
                                  : fmt::format("{}:{}", first, open ? "" : fmt::format("{}", last)));
  }
  for (const std::string& host : filter.hosts) words.push_back("host=" + host);
  for (const std::string& group : filter.groups) words.push_back("group=" + group);
  return words;
}

// What follows upon "; ".
std::string after(const std::string& text) {
  return text.empty() ? "" : "; " + text;
}

}  // namespace

std::vector<std::int32_t> absent_ranks(const std::vector<std::int32_t>& ranks, const Runs& runs) {
  std::vector<std::int32_t> absent;
  std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(absent), [&runs](std::int32_t rank) {
    return std::none_of(runs.begin(), runs.end(),
                        [rank](const Scene* run) { return run->index_of(rank).has_value(); });
  });
  return absent;
}

std::string ranks_in_words(const Runs& runs) {
  const JobFacts& facts = runs.front()->facts();
  return facts.ranks.empty() ? "the run has no ranks"
                             : "ranks are " + list_of_ranks(facts, all_ranks(facts.ranks.size()).ranks);
}

std::string wrong_order(const RankOrder& order, const Runs& runs) {
  if (order.by != OrderBy::group || order.group_kind.empty()) return "";
  const std::vector<std::string> kinds = kinds_of_groups(runs);
  if (std::find(kinds.begin(), kinds.end(), order.group_kind) != kinds.end()) return "";
  return "no process group is called so" + after(groups_in_words(runs));
}

std::string wrong_filter(const std::string& filter, const Runs& runs) {
  const RankFilter wanted = parse_rank_filter(filter).value();
  const bool none_left = !any_passes(wanted, runs);
  const RankFilter without = none_left ? wanted : parts_without_ranks(wanted, runs);
  const std::vector<std::string> parts = names_in_words(without);
  if (!none_left && parts.empty()) return "";
  std::string text = none_left ? "no rank is left" : fmt::format("no rank fits {}", fmt::join(parts, " or "));
  if (!without.ranks.empty()) text += after(ranks_in_words(runs));
  if (!without.hosts.empty()) text += after(hosts_in_words(runs));
  if (!without.groups.empty()) text += after(groups_in_words(runs));
  return text;
}

std::string wrong_attribute(const std::string& search, const Scene& run, const std::stop_token& stop) {
  // Words that look like attributes and have not been met in a name.
  SearchQuery parsed = parse_search(search).value();
  std::vector<std::string>& words = parsed.words;
  std::erase_if(words, [](const std::string& word) {
    const std::size_t equals = word.find('=');
    return equals == 0 || equals == std::string::npos;
  });
  for (std::uint32_t id = 0; id < run.string_count() && !words.empty() && !stop.stop_requested(); ++id) {
    if (run.string(id).find('=') == std::string_view::npos) continue;
    const std::string name = searched_part(run.string(id));
    std::erase_if(words, [&name](const std::string& word) { return name.find(word) != std::string::npos; });
  }
  if (words.empty() || stop.stop_requested()) return "";
  const std::string& word = words.front();
  return fmt::format("'{}' is no attribute, and no name holds '{}'; attributes are {}",
                     word.substr(0, word.find('=')), word, kSearchAttributes);
}

std::string why_not_found(const std::string& search, const Scene& run, const std::stop_token& stop) {
  const Result<SearchQuery> query = parse_search(search);
  if (!query.ok()) return "";
  const std::string attribute = wrong_attribute(search, run, stop);
  if (!attribute.empty()) return attribute;
  if (query.value().rank && !run.index_of(*query.value().rank)) return ranks_in_words({&run});
  const std::vector<std::int64_t>& steps = run.report().steps_present;
  if (query.value().step && std::find(steps.begin(), steps.end(), *query.value().step) == steps.end())
    return steps_in_words(run);
  return run.order_alone() ? kWhereOrderStands : "";
}

}  // namespace lockstep::viewer

#include "viewer/timeline/rank_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "analyzer/report/quantity.h"
#include "analyzer/report/text_sections.h"
#include "viewer/timeline/rank_filter.h"
#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

namespace {

bool holds(const auto& all, const auto& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

void toggle(auto& all, const auto& one) {
  const auto at = std::find(all.begin(), all.end(), one);
  if (at == all.end())
    all.push_back(one);
  else
    all.erase(at);
}

std::string summary_of(const JobFacts& facts, const std::vector<std::uint32_t>& members) {
  std::int64_t lost = 0;
  for (const std::uint32_t member : members) lost += facts.ranks[member].lost_ns;
  std::string text = fmt::format("{}: {}", format_plural(static_cast<std::int64_t>(members.size()), "rank"),
                                 list_of_ranks(facts, members));
  if (lost > 0) text += fmt::format("  ·  others waited {} for them", analyzer::format_duration(lost));
  return text;
}

// In which section each rank stands; by number within it. Sections have no `first` and `shown` yet.
std::vector<RankSection> by_host(const JobFacts& facts) {
  std::map<std::string, std::vector<std::uint32_t>> hosts;
  for (std::uint32_t i = 0; i < facts.ranks.size(); ++i) hosts[facts.ranks[i].host].push_back(i);
  std::vector<RankSection> sections;
  sections.reserve(hosts.size());
  for (auto& [host, members] : hosts)
    sections.push_back({host.empty() ? "no host" : host, "", "host=" + host, 0, 0, std::move(members), true});
  // As the ranks stand on them, not by name: node10 does not come before node2.
  std::sort(sections.begin(), sections.end(),
            [](const RankSection& a, const RankSection& b) { return a.members.front() < b.members.front(); });
  return sections;
}

std::vector<RankSection> by_group(const JobFacts& facts, const std::string& kind) {
  const auto proper = [&](const GroupFacts& group) { return group.members.size() < facts.ranks.size(); };
  const bool any_proper = std::any_of(facts.groups.begin(), facts.groups.end(), proper);
  std::vector<RankSection> sections;
  std::vector<bool> placed(facts.ranks.size(), false);
  for (const GroupFacts& group : facts.groups) {
    if (kind.empty() ? any_proper && !proper(group) : group.kind != kind) continue;
    RankSection section{group.name, "",  fmt::format("group={} {}", group.name, group.members.front()), 0, 0,
                        {},         true};
    for (const std::uint32_t member : group.members) {
      if (placed[member]) continue;
      placed[member] = true;
      section.members.push_back(member);
    }
    if (!section.members.empty()) sections.push_back(std::move(section));
  }
  RankSection rest{"no group", "", "group=", 0, 0, {}, true};
  for (std::uint32_t i = 0; i < facts.ranks.size(); ++i)
    if (!placed[i]) rest.members.push_back(i);
  if (!rest.members.empty()) sections.push_back(std::move(rest));
  return sections;
}

}  // namespace

std::string kind_of_group(std::string_view name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  if (end == std::string_view::npos || end + 1 == name.size()) return std::string(name);
  const std::size_t word = name.find_last_not_of("0123456789 _-.#:");
  return std::string(word == std::string_view::npos ? name : name.substr(0, word + 1));
}

JobFacts job_facts(const Scene& scene) {
  JobFacts facts;
  facts.scheduled = analyzer::has_scheduled_waits(scene.report());
  for (const analyzer::RankReport& rank : scene.counted_ranks())
    if (rank.measures.known) facts.lost_scale_ns += rank.measures.window_ns / 10;
  for (std::size_t i = 0; i < scene.timeline().ranks.size(); ++i) {
    RankFacts rank;
    rank.rank = scene.timeline().ranks[i].rank;
    rank.host = scene.rank(i).host;
    if (const analyzer::BlameReport* const blame = scene.blame(i)) {
      rank.lost_ns = analyzer::lateness_of(*blame);
      facts.lost_scale_ns = std::max(facts.lost_scale_ns, rank.lost_ns);
    }
    rank.is_late = scene.standing(i).culprit;
    rank.is_marked = analyzer::is_marked(scene.report(), rank.rank);
    const analyzer::RankReport* const report = scene.rank_report(i);
    if (report != nullptr && report->measures.known && report->measures.waits_known)
      rank.waited_ns = analyzer::wait_of(report->measures);
    facts.ranks.push_back(std::move(rank));
  }
  // The greatest first: the first that is not worth a word ends it.
  std::vector<const analyzer::BlameReport*> blames;
  for (const analyzer::BlameReport& blame : scene.report().blame) blames.push_back(&blame);
  std::sort(blames.begin(), blames.end(), [](const auto* a, const auto* b) {
    return a->exposed_ns - a->scheduled_exposed_ns > b->exposed_ns - b->scheduled_exposed_ns;
  });
  for (const analyzer::BlameReport* const blame : blames) {
    if (!analyzer::is_worth_blaming(scene.report(), *blame)) break;
    if (const auto index = scene.index_of(blame->rank)) facts.ranks[*index].is_late = true;
  }
  std::set<std::pair<std::string, std::vector<std::uint32_t>>> seen;
  for (const analyzer::JobGroup& group : scene.contents().groups) {
    GroupFacts known{group.description.empty() ? group.name : group.description, "", {}};
    known.kind = kind_of_group(known.name);
    for (const std::int32_t rank : group.ranks)
      if (const auto index = scene.index_of(rank)) known.members.push_back(*index);
    std::sort(known.members.begin(), known.members.end());
    // Some inputs declare a group once a rank.
    if (known.members.size() > 1 && seen.emplace(known.name, known.members).second)
      facts.groups.push_back(std::move(known));
  }
  std::stable_sort(facts.groups.begin(), facts.groups.end(), [](const GroupFacts& a, const GroupFacts& b) {
    if (a.members.size() != b.members.size()) return a.members.size() > b.members.size();
    return std::tie(a.kind, a.members) < std::tie(b.kind, b.members);
  });
  return facts;
}

std::vector<std::string> group_kinds(const JobFacts& facts) {
  std::vector<std::string> kinds;
  for (const GroupFacts& group : facts.groups) {
    const bool divides = group.members.size() < facts.ranks.size();
    if (divides && !group.kind.empty() && !holds(kinds, group.kind)) kinds.push_back(group.kind);
  }
  return kinds;
}

Result<RankOrder> parse_order(const std::string& text) {
  RankOrder order;
  const std::size_t equals = text.find('=');
  const std::string key = text.substr(0, equals);
  if (key == "rank")
    order.by = OrderBy::rank;
  else if (key == "host")
    order.by = OrderBy::host;
  else if (key == "group")
    order.by = OrderBy::group;
  else if (key == "lost")
    order.by = OrderBy::lost;
  else if (key == "waiting")
    order.by = OrderBy::waiting;
  if (order_text(order) != key || (equals != std::string::npos && order.by != OrderBy::group))
    return Error{fmt::format("'{}' is no order: it is rank, host, group, group=NAME, lost or waiting", text)};
  if (equals != std::string::npos) order.group_kind = text.substr(equals + 1);
  return order;
}

std::string order_text(const RankOrder& order) {
  switch (order.by) {
    case OrderBy::rank:
      return "rank";
    case OrderBy::host:
      return "host";
    case OrderBy::group:
      return order.group_kind.empty() ? "group" : "group=" + order.group_kind;
    case OrderBy::lost:
      return "lost";
    case OrderBy::waiting:
      return "waiting";
  }
  return "rank";
}

RankOrder next_order(const RankOrder& order, const JobFacts& facts) {
  std::vector<std::string> all{"rank"};
  const bool hosts = std::any_of(facts.ranks.begin(), facts.ranks.end(), [&](const RankFacts& rank) {
    return rank.host != facts.ranks.front().host;
  });
  if (hosts) all.push_back("host");
  for (const std::string& kind : group_kinds(facts)) all.push_back("group=" + kind);
  all.push_back("lost");
  all.push_back("waiting");
  const auto at = std::find(all.begin(), all.end(), order_text(order));
  const std::string& text = at == all.end() || at + 1 == all.end() ? all.front() : *(at + 1);
  RankOrder next = order;
  const RankOrder parsed = parse_order(text).value();
  next.by = parsed.by;
  next.group_kind = parsed.group_kind;
  return next;
}

std::string list_of_ranks(const std::vector<std::int32_t>& ranks) {
  std::string text;
  constexpr std::size_t kLongest = 60;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    if (text.size() > kLongest) return text + "…";
    text += fmt::format("{}", ranks[i]);
    if (last == i + 1) text += fmt::format(", {}", ranks[last]);
    if (last > i + 1) text += fmt::format(" to {}", ranks[last]);
    i = last + 1;
  }
  return text;
}

std::string list_of_ranks(const JobFacts& facts, const std::vector<std::uint32_t>& members) {
  std::vector<std::int32_t> ranks;
  ranks.reserve(members.size());
  for (const std::uint32_t member : members) ranks.push_back(facts.ranks[member].rank);
  return list_of_ranks(ranks);
}

RankSequence all_ranks(std::size_t count) {
  RankSequence sequence;
  sequence.ranks.resize(count);
  std::iota(sequence.ranks.begin(), sequence.ranks.end(), 0u);
  return sequence;
}

RankSequence order_ranks(const JobFacts& facts, const RankOrder& order) {
  RankSequence sequence;
  std::vector<bool> pinned(facts.ranks.size(), false);
  for (const std::int32_t rank : order.pinned) {
    const auto at =
        std::lower_bound(facts.ranks.begin(), facts.ranks.end(), rank,
                         [](const RankFacts& each, std::int32_t wanted) { return each.rank < wanted; });
    if (at == facts.ranks.end() || at->rank != rank) continue;
    const auto index = static_cast<std::uint32_t>(at - facts.ranks.begin());
    if (pinned[index]) continue;
    pinned[index] = true;
    sequence.ranks.push_back(index);
  }
  sequence.pinned = static_cast<std::uint32_t>(sequence.ranks.size());

  const Result<RankFilter> parsed = parse_rank_filter(order.filter);
  const std::vector<bool> wanted = passing(parsed.ok() ? parsed.value() : RankFilter{}, facts);
  if (order.by == OrderBy::host || order.by == OrderBy::group) {
    for (RankSection& section :
         order.by == OrderBy::host ? by_host(facts) : by_group(facts, order.group_kind)) {
      std::erase_if(section.members, [&](std::uint32_t index) { return !wanted[index]; });
      if (section.members.empty()) continue;
      section.summary = summary_of(facts, section.members);
      section.open = !holds(order.closed, section.key);
      section.first = static_cast<std::uint32_t>(sequence.ranks.size());
      for (const std::uint32_t index : section.members)
        if (section.open && !pinned[index]) sequence.ranks.push_back(index);
      section.shown = static_cast<std::uint32_t>(sequence.ranks.size()) - section.first;
      sequence.sections.push_back(std::move(section));
    }
    return sequence;
  }
  for (std::uint32_t i = 0; i < facts.ranks.size(); ++i)
    if (!pinned[i] && wanted[i]) sequence.ranks.push_back(i);
  const auto most_first = [&](std::int64_t RankFacts::*value) {
    std::stable_sort(
        sequence.ranks.begin() + sequence.pinned, sequence.ranks.end(),
        [&](std::uint32_t a, std::uint32_t b) { return facts.ranks[a].*value > facts.ranks[b].*value; });
  };
  if (order.by == OrderBy::lost) most_first(&RankFacts::lost_ns);
  if (order.by == OrderBy::waiting) most_first(&RankFacts::waited_ns);
  return sequence;
}

void toggle_pin(RankOrder& order, std::int32_t rank) {
  toggle(order.pinned, rank);
}

void toggle_section(RankOrder& order, const std::string& key) {
  toggle(order.closed, key);
}

void toggle_sections(const JobFacts& facts, RankOrder& order) {
  const std::vector<RankSection> sections = order_ranks(facts, order).sections;
  const bool any_open =
      std::any_of(sections.begin(), sections.end(), [](const RankSection& each) { return each.open; });
  order.closed.clear();
  for (const RankSection& section : sections)
    if (any_open) order.closed.push_back(section.key);
}

void make_shown(const JobFacts& facts, std::uint32_t index, RankOrder& order) {
  if (index >= facts.ranks.size() || holds(order.pinned, facts.ranks[index].rank)) return;
  const Result<RankFilter> filter = parse_rank_filter(order.filter);
  if (filter.ok() && !passing(filter.value(), facts)[index]) order.filter.clear();
  for (const RankSection& section : order_ranks(facts, order).sections)
    if (!section.open && holds(section.members, index)) std::erase(order.closed, section.key);
}

}  // namespace lockstep::viewer

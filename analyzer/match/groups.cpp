#include "analyzer/match/groups.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyzer/match/stage_chain.h"
#include "analyzer/model/operation.h"

namespace lockstep::analyzer {
namespace {

// Is one of the text's words `pp`, `pipe` or `pipeline`? Words are runs of letters and digits.
bool says_pipeline(std::string_view text) {
  std::string word;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const auto letter =
        i < text.size() ? static_cast<unsigned char>(text[i]) : static_cast<unsigned char>(' ');
    if (std::isalnum(letter) != 0) {
      word += static_cast<char>(std::tolower(letter));
      continue;
    }
    if (word == "pp" || word == "pipe" || word == "pipeline") return true;
    word.clear();
  }
  return false;
}

std::vector<std::int32_t> all_ranks(const Job& job) {
  std::set<std::int32_t> ranks(job.ranks_missing.begin(), job.ranks_missing.end());
  for (const RankTrace& rank : job.ranks) ranks.insert(rank.rank);
  return {ranks.begin(), ranks.end()};
}

// Of pipelines that a description tells and that have no messages of their own.
void find_messages_of_other_groups(const Job& job, GroupTable& table) {
  std::vector<bool> has_messages(table.groups.size(), false);
  std::set<std::tuple<std::uint32_t, std::int32_t, std::int32_t>> pairs;
  for (const RankTrace& rank : job.ranks) {
    for (const Communication& communication : rank.communications) {
      if (!is_point_to_point(communication.operation) || communication.peer == kNoRank) continue;
      const std::uint32_t group = table.group_of(rank.rank, communication);
      const auto [lower, higher] = std::minmax(rank.rank, communication.peer);
      has_messages[group] = true;
      pairs.emplace(group, lower, higher);
    }
  }
  for (std::uint32_t pipeline = 0; pipeline < table.groups.size(); ++pipeline) {
    if (!table.groups[pipeline].pipeline || has_messages[pipeline]) continue;
    const std::vector<std::int32_t>& ranks = table.groups[pipeline].ranks;
    for (const auto& pair : pairs) {
      const auto [group, lower, higher] = pair;
      if (!table.groups[group].pipeline && lower != higher &&
          std::binary_search(ranks.begin(), ranks.end(), lower) &&
          std::binary_search(ranks.begin(), ranks.end(), higher))
        table.of_records.of_pair.try_emplace(pair, pipeline);
    }
  }
}

}  // namespace

std::uint32_t GroupsOfRecords::find(std::int32_t rank, const Communication& communication) const {
  const std::uint32_t group =
      communication.group == kNone ? implicit_group : of_job_group[communication.group];
  if (of_pair.empty() || !is_point_to_point(communication.operation)) return group;
  const auto [lower, higher] = std::minmax(rank, communication.peer);
  const auto pipeline = of_pair.find({group, lower, higher});
  return pipeline == of_pair.end() ? group : pipeline->second;
}

GroupTable build_groups(const Job& job) {
  GroupTable table;
  std::map<std::pair<std::string, std::vector<std::int32_t>>, std::uint32_t> known;
  for (std::uint32_t index = 0; index < job.groups.size(); ++index) {
    const JobGroup& group = job.groups[index];
    const auto [entry, inserted] =
        known.try_emplace({group.name, group.ranks}, static_cast<std::uint32_t>(table.groups.size()));
    const bool has_unnamed = group.may_have_others && group.ranks.empty() && group.size == 0;
    const bool pipeline = says_pipeline(group.description.empty() ? group.name : group.description);
    if (inserted) {
      table.groups.push_back({group.name, group.ranks, group.size, index, pipeline});
      table.groups.back().has_unnamed = has_unnamed;
    } else {
      MatchGroup& same = table.groups[entry->second];  // one rank may know more of it than another
      same.pipeline = same.pipeline || pipeline;
      same.size = std::max(same.size, group.size);
      same.has_unnamed = same.size == 0 && (same.has_unnamed || has_unnamed);
    }
    table.of_records.of_job_group.push_back(entry->second);
  }
  table.of_records.implicit_group = static_cast<std::uint32_t>(table.groups.size());
  table.groups.push_back({"", all_ranks(job), job.world_size, kNone, false});

  std::vector<std::set<std::int32_t>> seen(table.groups.size());
  for (const RankTrace& rank : job.ranks) {
    for (const Communication& communication : rank.communications) {
      const std::uint32_t group = table.group_of(rank.rank, communication);
      if (table.groups[group].ranks.empty()) seen[group].insert(rank.rank);
    }
  }
  std::size_t groups_of_several = 0;
  for (std::size_t i = 0; i + 1 < table.groups.size(); ++i) {
    if (table.groups[i].ranks.empty()) table.groups[i].ranks.assign(seen[i].begin(), seen[i].end());
    if (table.groups[i].ranks.size() > 1) ++groups_of_several;
  }
  for (MatchGroup& group : table.groups)
    group.size = std::max(group.size, static_cast<std::int32_t>(group.ranks.size()));
  table.implicit_group_is_plausible = groups_of_several <= 1;
  find_messages_of_other_groups(job, table);
  const std::vector<bool> chains = find_stage_chains(job, table);
  for (std::size_t i = 0; i < chains.size(); ++i)
    if (chains[i]) table.groups[i].pipeline = table.groups[i].stage_chain = true;
  return table;
}

}  // namespace lockstep::analyzer

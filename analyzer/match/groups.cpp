#include "analyzer/match/groups.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analyzer/match/stage_chain.h"

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

}  // namespace

GroupTable build_groups(const Job& job) {
  GroupTable table;
  std::map<std::pair<std::string, std::vector<std::int32_t>>, std::uint32_t> known;
  for (std::uint32_t index = 0; index < job.groups.size(); ++index) {
    const JobGroup& group = job.groups[index];
    const auto [entry, inserted] =
        known.try_emplace({group.name, group.ranks}, static_cast<std::uint32_t>(table.groups.size()));
    const bool pipeline = says_pipeline(group.description.empty() ? group.name : group.description);
    if (inserted) {
      table.groups.push_back({group.name, group.ranks, group.size, index, pipeline});
    } else {
      MatchGroup& same = table.groups[entry->second];  // one rank may know more of it than another
      same.pipeline = same.pipeline || pipeline;
      same.size = std::max(same.size, group.size);
    }
    table.of_job_group.push_back(entry->second);
  }
  table.groups.push_back({"", all_ranks(job), job.world_size, kNone, false});

  std::vector<std::set<std::int32_t>> seen(table.groups.size());
  for (const RankTrace& rank : job.ranks) {
    for (const Communication& communication : rank.communications) {
      const std::uint32_t group = table.group_of(communication);
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
  const std::vector<bool> chains = find_stage_chains(job, table);
  for (std::size_t i = 0; i < chains.size(); ++i)
    if (chains[i]) table.groups[i].pipeline = table.groups[i].stage_chain = true;
  return table;
}

}  // namespace lockstep::analyzer

#include "analyzer/import/rank/group_members.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lockstep::analyzer {
namespace {

bool is_numbered_within(const JobGroup& group) {
  return group.ranks.empty() && group.own_rank != kNoRank && !group.name.empty();
}

}  // namespace

GroupMembers::GroupMembers(const std::vector<RankImport>& imports) {
  for (const RankImport& import : imports) {
    for (const JobGroup& group : import.groups) {
      if (!is_numbered_within(group)) continue;
      Members& members = of_[group.name];
      members.size = std::max(members.size, group.size);
      const auto [where, fresh] = members.global.emplace(group.own_rank, import.trace.rank);
      // Two files that claim one place, or one process with several ranks of the group.
      if (!fresh || !members.seen.insert(import.trace.rank).second) members.contradictory = true;
    }
  }
  for (auto& [name, members] : of_) {
    if (!members.complete()) continue;
    std::vector<std::int32_t> ranks;
    for (const auto& [within, global] : members.global) ranks.push_back(global);
    std::sort(ranks.begin(), ranks.end());
    members.ranks = std::move(ranks);
  }
}

void GroupMembers::settle(RankImport& import) const {
  std::vector<const Members*> members(import.groups.size(), nullptr);
  for (std::size_t i = 0; i < import.groups.size(); ++i) {
    JobGroup& group = import.groups[i];
    if (!is_numbered_within(group)) continue;
    members[i] = &of_.at(group.name);
    group.size = members[i]->size;
    group.own_rank = kNoRank;
    if (!members[i]->complete()) continue;
    group.ranks = members[i]->ranks;
  }
  for (Communication& communication : import.trace.communications) {
    if (communication.group == kNone || members[communication.group] == nullptr) continue;
    communication.peer = members[communication.group]->global_rank(communication.peer);
  }
}

std::string GroupMembers::unknown() const {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> shown;
  std::size_t all = 0;
  for (const auto& [name, members] : of_) {
    if (members.complete()) continue;
    if (++all <= kShown)
      shown.push_back(fmt::format("{} ({} of {})", name, members.global.size(), members.size));
  }
  return shown.empty() ? "" : fmt::format("{}{}", fmt::join(shown, ", "), all > kShown ? ", …" : "");
}

bool GroupMembers::Members::complete() const {
  return !contradictory && size > 0 && global.size() == static_cast<std::size_t>(size) &&
         global.begin()->first == 0 && global.rbegin()->first == size - 1;
}

std::int32_t GroupMembers::Members::global_rank(std::int32_t within) const {
  const auto found = global.find(within);
  return contradictory || found == global.end() ? kNoRank : found->second;
}

}  // namespace lockstep::analyzer

#include "analyzer/import/flight_recorder/possible_ranks.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/import/rank/rank_list.h"
#include "base/numbers.h"

namespace lockstep::analyzer::flight_recorder {
namespace {

using Ranks = std::vector<std::int32_t>;

// What is left of all ranks; before the first restriction nobody knows how many there are.
class Possible {
 public:
  void restrict_to(Ranks ranks) {
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    if (!ranks_) {
      ranks_ = std::move(ranks);
      return;
    }
    Ranks both;
    std::set_intersection(ranks_->begin(), ranks_->end(), ranks.begin(), ranks.end(),
                          std::back_inserter(both));
    ranks_ = std::move(both);
  }
  bool is_contradiction() const { return ranks_ && ranks_->empty(); }
  Ranks take() && { return std::move(ranks_).value_or(Ranks{}); }

 private:
  std::optional<Ranks> ranks_;
};

// The process's own rank in the group of a message; nullopt where the name has none.
std::optional<std::size_t> own_place(const Entry& entry) {
  if (!entry.is_message) return std::nullopt;
  const std::string_view name = entry.name;
  const std::size_t arrow = std::min(name.find("->"), name.find("<-"));
  if (arrow == std::string_view::npos || arrow == 0) return std::nullopt;
  const std::size_t begin = name.find_last_not_of("0123456789", arrow - 1) + 1;
  return parse_number<std::size_t>(name.substr(begin, arrow - begin));
}

using Groups = std::map<std::string, Ranks>;  // name -> rank in the group -> global rank

Groups whole_groups(const Dump& dump, bool damaged) {
  Groups groups;
  for (const Group& group : dump.groups) {
    // PyTorch writes "[0, 1]" as one text, which is whole or not there.
    if (damaged && !group.ranks.ends_with(']')) continue;
    RankList list = parse_ranks(group.ranks);
    if (!list.cut && !list.ranks.empty()) groups.try_emplace(group.name, std::move(list.ranks));
  }
  return groups;
}

}  // namespace

std::vector<std::int32_t> possible_ranks(const Dump& dump, bool damaged) {
  Possible members;
  const Groups groups = whole_groups(dump, damaged);
  for (const auto& [name, ranks] : groups) members.restrict_to(ranks);
  Possible placed = members;
  for (const Entry& entry : dump.entries) {
    const std::optional<std::size_t> place = own_place(entry);
    const auto group = groups.find(entry.group);
    if (!place || group == groups.end() || *place >= group->second.size()) continue;
    placed.restrict_to({group->second[*place]});
  }
  return placed.is_contradiction() ? std::move(members).take() : std::move(placed).take();
}

bool calls_may_be_of(const Dump& dump, bool damaged, std::int32_t rank) {
  const Groups groups = whole_groups(dump, damaged);
  const auto has_it = [rank](const auto& group) {
    return std::ranges::find(group.second, rank) != group.second.end();
  };
  return std::ranges::any_of(groups, has_it) && std::ranges::all_of(dump.entries, [&](const Entry& entry) {
           const auto group = groups.find(entry.group);
           if (group == groups.end()) return true;
           const std::optional<std::size_t> place = own_place(entry);
           return has_it(*group) &&
                  (!place || *place >= group->second.size() || group->second[*place] == rank);
         });
}

}  // namespace lockstep::analyzer::flight_recorder

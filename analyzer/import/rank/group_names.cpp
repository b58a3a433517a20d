#include "analyzer/import/rank/group_names.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::analyzer {
namespace {

// "0", "21", "ee5ba04a8aaf3acc": nobody chose it.
bool is_a_number(const std::string& name) {
  const auto all = [&](auto is) {
    return std::all_of(name.begin(), name.end(),
                       [&](char c) { return is(static_cast<unsigned char>(c)) != 0; });
  };
  constexpr std::size_t kShortestHash = 16;
  return !name.empty() &&
         (all([](unsigned char c) { return std::isdigit(c); }) ||
          (name.size() >= kShortestHash && all([](unsigned char c) { return std::isxdigit(c); })));
}

using Key = std::pair<std::string, SharedRanks>;  // name, or description, and ranks

}  // namespace

void name_groups(Job& job) {
  // One rank knows more of a group than another.
  std::map<Key, std::string> description_of;
  for (const JobGroup& group : job.groups) {
    std::string& description = description_of[{group.name, group.ranks}];
    if (description.empty() && group.description != "undefined") description = group.description;
  }
  std::map<Key, int> claims;
  for (const auto& [key, description] : description_of)
    ++claims[{is_a_number(key.first) && !description.empty() ? description : key.first, key.second}];
  for (JobGroup& group : job.groups) {
    const std::string& description = description_of[{group.name, group.ranks}];
    if (!is_a_number(group.name) || description.empty()) continue;
    group.name = claims[{description, group.ranks}] > 1 ? description + " " + group.name : description;
  }
}

}  // namespace lockstep::analyzer

#include "analyzer/html/group_numbers.h"

#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {

GroupNumbers::GroupNumbers(const Report& report) {
  for (const GroupReport& group : report.groups) add(group.name, group.ranks);
  for (const CollectiveReport& one : report.collectives) add(one.group_name, one.group_ranks);
  for (const BucketReport& one : report.buckets) add(one.group_name, one.group_ranks);
}

void GroupNumbers::add(const std::string& name, const std::vector<std::int32_t>& ranks) {
  numbers_.try_emplace({name, ranks}, numbers_.size());
}

nlohmann::ordered_json GroupNumbers::to_json() const {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  std::vector<nlohmann::ordered_json> by_number(numbers_.size());
  for (const auto& [group, number] : numbers_)
    by_number[number] = {{"name", to_valid_utf8(group.first)}, {"ranks", group.second}};
  for (nlohmann::ordered_json& group : by_number) array.push_back(std::move(group));
  return array;
}

}  // namespace lockstep::analyzer

#include "analyzer/diagnose/group_roles.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <span>
#include <string_view>

namespace lockstep::analyzer {
namespace {

// All-gathers of a step, before the first reduce-scatter of their group, of one that shards parameters.
constexpr std::int64_t kLeastAhead = 2;
constexpr std::int64_t kLeastGathers = 4;

bool has_word(const std::string& text, std::span<const std::string_view> words) {
  std::string word;
  const auto is_one = [&] {
    return std::any_of(words.begin(), words.end(), [&](std::string_view one) { return word == one; });
  };
  for (const char character : text) {
    if (std::isalpha(static_cast<unsigned char>(character)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(character)));
      continue;
    }
    if (is_one()) return true;
    word.clear();
  }
  return is_one();
}

// The all-gathers and reduce-scatters of a group in a step, in their order.
struct OfStep {
  std::int64_t gathers = 0, scatters = 0, turns = 0;
  std::int64_t ahead = 0;  // all-gathers before the first reduce-scatter
  Operation last = Operation::unknown;

  void add(Operation operation) {
    turns += last != Operation::unknown && last != operation ? 1 : 0;
    last = operation;
    if (operation == Operation::reduce_scatter) {
      if (scatters == 0) ahead = gathers;
      ++scatters;
    } else {
      ++gathers;
    }
  }
  bool is_of_activations() const {
    return gathers >= kLeastGathers && scatters > 0 && ahead < kLeastAhead && 2 * turns > gathers + scatters;
  }
};

}  // namespace

bool is_tensor_parallel(const std::string& name, const std::string& description) {
  constexpr std::array<std::string_view, 4> kWords{"tp", "tensor", "sp", "sequence"};
  return has_word(name, kWords) || has_word(description, kWords);
}

std::string description_of(const Job& job, const std::string& name, const std::vector<std::int32_t>& ranks) {
  for (const JobGroup& group : job.groups) {
    if (group.name == name && (group.ranks == ranks || group.ranks.empty())) return group.description;
  }
  return {};
}

ActivationGroups::ActivationGroups(const Job& job, const Report& report) {
  std::map<const CollectiveReport*, std::map<std::int64_t, OfStep>, ByGroup> groups;
  for (const CollectiveReport& collective : report.collectives) {  // in order of first arrival
    auto& steps = groups[&collective];
    if (collective.step &&
        (collective.operation == Operation::all_gather || collective.operation == Operation::reduce_scatter))
      steps[*collective.step].add(collective.operation);
  }
  for (const auto& [group, steps] : groups) {
    const auto count =
        std::ranges::count_if(steps, [](const auto& step) { return step.second.is_of_activations(); });
    const bool in_most = 2 * count > static_cast<std::int64_t>(steps.size());
    const auto& [name, ranks] = std::tie(group->group_name, group->group_ranks);
    if (in_most || is_tensor_parallel(name, description_of(job, name, ranks))) groups_.insert(group);
  }
}

bool ActivationGroups::has(const CollectiveReport& collective) const {
  return groups_.contains(&collective);
}

}  // namespace lockstep::analyzer

#include "analyzer/diagnose/group_roles.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <span>
#include <string_view>

#include "analyzer/model/launch.h"

namespace lockstep::analyzer {
namespace {

// In a step, of a group that no name tells: two that scatter before anything has a gradient are no accident.
constexpr std::int64_t kLeastGathers = 4, kLeastScatters = 2;

bool gathers_or_scatters(const CollectiveReport& collective) {
  return collective.operation == Operation::all_gather || collective.operation == Operation::reduce_scatter;
}

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

// When backward passes begin: computations that are known as such, at their launch, and the host's ranges.
std::vector<Nanoseconds> backward_begins(const RankTrace& rank, const StringTable& strings) {
  std::vector<Nanoseconds> begins;
  for (const Activity& activity : rank.activities)
    if (activity.compute != kNone && rank.computations[activity.compute].pass == Pass::backward)
      begins.push_back(launch_time(activity));
  for (const HostRange& range : rank.host_ranges) {
    if (range.kind == HostKind::python_place) continue;
    const std::string_view name = strings.view(range.name);
    if (name == "backward" || name.starts_with("autograd::engine")) begins.push_back(range.begin);
  }
  std::sort(begins.begin(), begins.end());
  return begins;
}

// Of a rank, by step: the time from its begin to its first backward pass. Steps without one are left out.
using ForwardTimes = std::map<std::int64_t, TimeSpan>;
ForwardTimes forward_times(const RankTrace& rank, const StringTable& strings) {
  const std::vector<Nanoseconds> begins = backward_begins(rank, strings);
  ForwardTimes times;
  for (const StepMark& step : rank.steps) {
    const auto first = std::lower_bound(begins.begin(), begins.end(), step.begin);
    if (first != begins.end() && *first < step.end) times[step.number] = {step.begin, *first};
  }
  return times;
}

// The all-gathers and reduce-scatters of a group in a step.
struct OfStep {
  std::int64_t gathers = 0, scatters_in_forward = 0;
  bool is_of_activations() const { return gathers >= kLeastGathers && scatters_in_forward >= kLeastScatters; }
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
  std::map<std::int32_t, const RankTrace*> traces;
  for (const RankTrace& rank : job.ranks) traces[rank.rank] = &rank;
  std::map<std::int32_t, ForwardTimes> forwards;
  std::map<const CollectiveReport*, std::map<std::int64_t, OfStep>, ByGroup> groups;
  for (const CollectiveReport& collective : report.collectives) {
    auto& steps = groups[&collective];
    if (!collective.step || collective.ranks.empty() || !gathers_or_scatters(collective)) continue;
    OfStep& step = steps[*collective.step];
    if (collective.operation == Operation::all_gather) {
      ++step.gathers;
      continue;
    }
    // One of its ranks tells when it was launched.
    const CollectiveRank& one = collective.ranks.front();
    const RankTrace& trace = *traces.at(one.rank);
    const auto [known, fresh] = forwards.try_emplace(one.rank);
    if (fresh) known->second = forward_times(trace, job.strings);
    const auto forward = known->second.find(*collective.step);
    const Nanoseconds launch = launch_time(trace.activities[one.activity]);
    if (forward != known->second.end() && launch >= forward->second.begin && launch < forward->second.end)
      ++step.scatters_in_forward;
  }
  for (const auto& [group, steps] : groups) {
    if (is_tensor_parallel(group->group_name, description_of(job, group->group_name, group->group_ranks)))
      named_.insert(group);
    const auto count =
        std::ranges::count_if(steps, [](const auto& step) { return step.second.is_of_activations(); });
    if (2 * count > static_cast<std::int64_t>(steps.size())) in_forward_.insert(group);
  }
}

bool ActivationGroups::has(const CollectiveReport& collective) const {
  return named_.contains(&collective) ||
         (gathers_or_scatters(collective) && in_forward_.contains(&collective));
}

}  // namespace lockstep::analyzer

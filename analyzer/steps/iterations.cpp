#include "analyzer/steps/iterations.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyzer/model/launch.h"
#include "analyzer/model/step_names.h"
#include "analyzer/steps/repetition.h"

namespace lockstep::analyzer {
namespace {

constexpr double kCovered = 0.5;

// Of one thread, by their begins; none within another.
using Passes = std::vector<HostRange>;
using PassesByLane = std::map<std::uint32_t, Passes>;

struct Found {
  PassesByLane by_lane;
  bool are_modules = false;  // no range says that it is a pass: the outermost calls of modules are
};

// Nothing where the rank trains.
std::optional<Found> passes_of(const RankTrace& rank, const StringTable& strings) {
  std::vector<std::optional<StepName>> meanings;
  PassesByLane by_lane, of_modules;
  bool has_passes = false;
  for (const HostRange& range : rank.host_ranges) {
    if (range.kind == HostKind::python_place) continue;
    if (range.kind == HostKind::module) {
      of_modules[range.lane].push_back(range);
      continue;
    }
    if (range.name >= meanings.size()) meanings.resize(range.name + 1);
    std::optional<StepName>& meaning = meanings[range.name];
    if (!meaning) meaning = step_name(strings.view(range.name));
    if (meaning == StepName::training || meaning == StepName::optimizer) return std::nullopt;
    if (meaning != StepName::none) by_lane[range.lane].push_back(range);
    has_passes = has_passes || meaning == StepName::pass;
  }
  const bool are_modules = !has_passes;
  if (are_modules) by_lane = std::move(of_modules);
  for (auto& [lane, passes] : by_lane) {
    std::sort(passes.begin(), passes.end(), [](const HostRange& a, const HostRange& b) {
      return std::tuple(a.begin, -a.end, a.name) < std::tuple(b.begin, -b.end, b.name);
    });
    Nanoseconds end = kUnknownTime;
    std::erase_if(passes, [&](const HostRange& pass) {
      if (end != kUnknownTime && pass.begin < end) return true;
      end = pass.end;
      return !are_modules && meanings[pass.name] == StepName::part;
    });
  }
  return Found{std::move(by_lane), are_modules};
}

// Of a sequence in which each run of equal elements counts as one: a generation has as many passes of the
// decoder as it has tokens.
std::vector<std::size_t> begins_without_runs(const std::vector<std::uint64_t>& names) {
  std::vector<std::uint64_t> first_of_runs;
  std::vector<std::size_t> at, begins;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0 && names[i] == names[i - 1]) continue;
    first_of_runs.push_back(names[i]);
    at.push_back(i);
  }
  if (const std::optional<Repetition> found = find_repetition(first_of_runs))
    for (const std::size_t run : found->begins) begins.push_back(at[run]);
  return begins;
}

// Indices of those that begin an iteration.
std::vector<std::size_t> begins_of(const Passes& passes, bool are_modules) {
  std::vector<std::uint64_t> names;
  std::map<std::uint64_t, std::size_t> counts;
  for (const HostRange& pass : passes) {
    names.push_back(pass.name);
    ++counts[pass.name];
  }
  if (counts.size() > 1) {
    if (std::optional<Repetition> found = find_repetition(names)) return std::move(found->begins);
    if (std::vector<std::size_t> begins = begins_without_runs(names); !begins.empty()) return begins;
    if (are_modules) return {};  // any part of a program may be a module
  }
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == most->first) begins.push_back(i);
  return begins;
}

// When data is loaded on the thread, ascending.
std::vector<Nanoseconds> loadings(const RankTrace& rank, std::uint32_t lane) {
  std::vector<Nanoseconds> begins;
  for (const HostRange& range : rank.host_ranges)
    if (range.kind == HostKind::data_loading && range.lane == lane) begins.push_back(range.begin);
  std::sort(begins.begin(), begins.end());
  return begins;
}

Nanoseconds median_length(const std::vector<Nanoseconds>& begins) {
  std::vector<Nanoseconds> lengths;
  for (std::size_t i = 1; i < begins.size(); ++i) lengths.push_back(begins[i] - begins[i - 1]);
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

bool covers_the_launches(const std::vector<Nanoseconds>& boundaries, const RankTrace& rank) {
  std::size_t within = 0, launches = 0;
  for (const Activity& activity : rank.activities) {
    if (activity.activity_class == Class::copy || activity.activity_class == Class::sync) continue;
    const Nanoseconds at = launch_time(activity);
    ++launches;
    if (at >= boundaries.front() && at < boundaries.back()) ++within;
  }
  return static_cast<double>(within) >= kCovered * static_cast<double>(launches);
}

}  // namespace

std::optional<Iterations> find_iterations(const RankTrace& rank, const StringTable& strings) {
  const std::optional<Found> of_rank = passes_of(rank, strings);
  if (!of_rank || of_rank->by_lane.empty()) return std::nullopt;
  const auto& [lane, passes] =
      *std::max_element(of_rank->by_lane.begin(), of_rank->by_lane.end(),
                        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (passes.size() < kLeastRepetitions) return std::nullopt;
  const std::vector<std::size_t> first = begins_of(passes, of_rank->are_modules);
  if (first.size() < kLeastRepetitions) return std::nullopt;

  const std::vector<Nanoseconds> loaded = loadings(rank, lane);
  Iterations found;
  found.name = passes[first.front()].name;
  for (const std::size_t i : first) {
    const Nanoseconds begin = passes[i].begin;
    // The first loading since the pass before, which is the last of another iteration; before all of them the
    // last one: what was loaded earlier was for something else.
    auto at = i > 0 ? std::lower_bound(loaded.begin(), loaded.end(), passes[i - 1].end)
                    : std::lower_bound(loaded.begin(), loaded.end(), begin);
    if (i == 0 && at != loaded.begin()) --at;
    found.boundaries.push_back(at != loaded.end() && *at < begin ? *at : begin);
  }
  const Nanoseconds median = median_length(found.boundaries);
  const Nanoseconds last = found.boundaries.back();
  const Nanoseconds computed = passes.back().end;
  const auto next = std::lower_bound(loaded.begin(), loaded.end(), computed);
  const bool is_next = next != loaded.end() && *next <= last + 2 * median;
  found.boundaries.push_back(std::max(
      {is_next ? *next : last + median, first.back() + 1 == passes.size() ? computed : last, last + 1}));
  if (!covers_the_launches(found.boundaries, rank)) return std::nullopt;
  return found;
}

bool only_infers(const RankTrace& rank, const StringTable& strings) {
  const std::optional<Found> found = passes_of(rank, strings);
  return found && !found->are_modules && !found->by_lane.empty();
}

}  // namespace lockstep::analyzer

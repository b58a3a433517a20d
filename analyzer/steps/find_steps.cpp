#include "analyzer/steps/find_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/model/launch.h"
#include "analyzer/model/step_names.h"
#include "analyzer/model/stopped.h"
#include "analyzer/steps/iterations.h"
#include "analyzer/steps/repetition.h"

namespace lockstep::analyzer {
namespace {

// So many activities of one call are a graph's.
constexpr std::size_t kOfAGraph = 8;
constexpr std::uint64_t kPrime = 1099511628211u;  // of the FNV-1a hash

struct Found {
  std::vector<StepMark> steps;
  std::vector<std::uint32_t> step_of;  // by activity
  bool by_graphs = false;              // most steps begin with the replay of a graph
  std::uint32_t name = kNone;          // of the ranges that told them
};

// The range that ends each step: that of the optimizer that steps last; another (of a second model) is a
// part.
std::uint32_t last_optimizer(const RankTrace& rank, const StringTable& strings) {
  std::uint32_t name = kNone;
  Nanoseconds last = kUnknownTime;
  for (const HostRange& range : rank.host_ranges) {
    if (range.kind == HostKind::python_place || step_name(strings.view(range.name)) != StepName::optimizer)
      continue;
    if (name != kNone && range.end <= last) continue;
    name = range.name;
    last = range.end;
  }
  return name;
}

// A step from each boundary to the next.
Found between(const std::vector<Nanoseconds>& boundaries, const RankTrace& rank) {
  Found found;
  for (std::size_t i = 0; i + 1 < boundaries.size(); ++i)
    found.steps.push_back({static_cast<std::int64_t>(i), boundaries[i], boundaries[i + 1]});
  for (const Activity& activity : rank.activities) {
    const auto next = std::upper_bound(boundaries.begin(), boundaries.end(), launch_time(activity));
    const bool within = next != boundaries.begin() && next != boundaries.end();
    found.step_of.push_back(within ? static_cast<std::uint32_t>(next - boundaries.begin() - 1) : kNone);
  }
  return found;
}

std::optional<Found> by_optimizer(const RankTrace& rank, const StringTable& strings) {
  const std::uint32_t name = last_optimizer(rank, strings);
  if (name == kNone) return std::nullopt;
  std::vector<Nanoseconds> ends;
  for (const HostRange& range : rank.host_ranges)
    if (range.name == name) ends.push_back(range.end);
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  if (ends.size() < kLeastRepetitions) return std::nullopt;
  // Before the first end lies its step, and all that came before training: that step is none.
  return between(ends, rank);
}

std::optional<Found> by_forward_passes(const RankTrace& rank, const StringTable& strings) {
  const std::optional<Iterations> iterations = find_iterations(rank, strings);
  if (!iterations) return std::nullopt;
  Found found = between(iterations->boundaries, rank);
  found.name = iterations->name;
  return found;
}

// What was launched, in order.
struct Launches {
  std::vector<std::uint64_t> what;
  std::vector<Nanoseconds> when;
  std::vector<bool> is_graph;
  std::vector<std::uint32_t> of_activity;  // index of its launch; kNone: of no launch that counts
};

// Whether what a collective carries tells it from another one of its name.
enum class Sizes : std::uint8_t { ignored, told_apart };

Launches launches_of(const RankTrace& rank, Sizes sizes) {
  std::vector<std::uint32_t> order(rank.activities.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return launch_time(rank.activities[a]) < launch_time(rank.activities[b]);
  });
  const auto same_call = [&](std::uint32_t a, std::uint32_t b) {
    const Activity &one = rank.activities[a], &other = rank.activities[b];
    return one.launch_begin != kUnknownTime && one.launch_begin == other.launch_begin &&
           one.launch_end == other.launch_end;
  };
  Launches launches;
  launches.of_activity.assign(rank.activities.size(), kNone);
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    end = begin + 1;
    while (end < order.size() && same_call(order[begin], order[end])) ++end;
    std::size_t count = 0;
    std::uint64_t what = 0;
    bool computes = true;
    for (std::size_t i = begin; i < end; ++i) {
      const Activity& activity = rank.activities[order[i]];
      // How often memory is copied and synchronized depends on the run.
      if (activity.activity_class == Class::copy || activity.activity_class == Class::sync) continue;
      ++count;
      computes = computes && activity.activity_class == Class::compute;
      what = what * kPrime + (std::uint64_t{activity.name} << 32 | activity.shape);
      if (sizes == Sizes::told_apart && activity.communication != kNone)
        what = what * kPrime + static_cast<std::uint64_t>(rank.communications[activity.communication].bytes);
    }
    if (count == 0) continue;
    // On a CPU a pass comes in as many pieces as its thread was interrupted into.
    const bool goes_on =
        computes && rank.device == "cpu" && !launches.what.empty() && launches.what.back() == what;
    for (std::size_t i = begin; i < end; ++i)
      launches.of_activity[order[i]] = static_cast<std::uint32_t>(launches.what.size() - (goes_on ? 1 : 0));
    if (goes_on) continue;
    launches.what.push_back(what);
    launches.when.push_back(launch_time(rank.activities[order[begin]]));
    launches.is_graph.push_back(count >= kOfAGraph);
  }
  return launches;
}

std::optional<Found> by_repetition(const RankTrace& rank, Sizes sizes) {
  const Launches launches = launches_of(rank, sizes);
  const std::optional<Repetition> repetition = find_repetition(launches.what);
  if (!repetition) return std::nullopt;
  const std::vector<std::size_t>& begins = repetition->begins;
  Found found;
  std::size_t graphs = 0;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : repetition->end;
    const bool is_last_launch = end == launches.when.size();
    found.steps.push_back({static_cast<std::int64_t>(i), launches.when[begins[i]],
                           is_last_launch ? launches.when.back() : launches.when[end]});
    if (launches.is_graph[begins[i]]) ++graphs;
  }
  found.by_graphs = graphs * 2 > begins.size();
  for (const std::uint32_t launch : launches.of_activity) {
    const auto next = std::upper_bound(begins.begin(), begins.end(), std::size_t{launch});
    const bool within = launch != kNone && next != begins.begin() && launch < repetition->end;
    found.step_of.push_back(within ? static_cast<std::uint32_t>(next - begins.begin() - 1) : kNone);
  }
  return found;
}

template <class Find>
bool mark_all(Job& job, std::string_view evidence, const Find& find, const std::stop_token& stop) {
  std::vector<Found> found;
  bool by_graphs = true;
  for (const RankTrace& rank : job.ranks) {
    throw_if_stopped(stop);
    std::optional<Found> of_rank = find(rank);
    if (!of_rank || (!found.empty() && of_rank->steps.size() != found.front().steps.size())) return false;
    by_graphs = by_graphs && of_rank->by_graphs;
    found.push_back(std::move(*of_rank));
  }
  if (found.empty()) return false;
  const std::size_t count = found.front().steps.size();
  const std::string named =
      found.front().name == kNone ? "" : fmt::format(" (`{}`)", job.strings.view(found.front().name));
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    job.ranks[i].steps = std::move(found[i].steps);
    for (std::size_t k = 0; k < job.ranks[i].activities.size(); ++k)
      job.ranks[i].activities[k].step = found[i].step_of[k];
  }
  job.warnings.push_back(
      {"steps_found",
       fmt::format(
           "the trace marks no steps; {} were found by {}{}: where these are not the steps of the program, "
           "mark them (docs/instrumentation.md)",
           count, by_graphs ? "replays of CUDA graphs" : evidence, named),
       kNoRank});
  return true;
}

}  // namespace

void find_steps(Job& job, const std::stop_token& stop) {
  // Dumps hold the last operations before a hang, and no computation: their begin is anywhere.
  if (job.dumps != Dumps::none) return;
  if (std::any_of(job.ranks.begin(), job.ranks.end(),
                  [](const RankTrace& rank) { return !rank.steps.empty(); }))
    return;
  if (mark_all(
          job, "the ranges of the optimizer",
          [&](const RankTrace& rank) { return by_optimizer(rank, job.strings); }, stop))
    return;
  if (mark_all(
          job, "the forward passes of a loop without an optimizer",
          [&](const RankTrace& rank) { return by_forward_passes(rank, job.strings); }, stop))
    return;
  // First without sizes: of batches that differ in length they do so in every step.
  for (const Sizes sizes : {Sizes::ignored, Sizes::told_apart})
    if (mark_all(
            job, "what repeats in the ranks' launches",
            [sizes](const RankTrace& rank) { return by_repetition(rank, sizes); }, stop))
      return;
}

}  // namespace lockstep::analyzer

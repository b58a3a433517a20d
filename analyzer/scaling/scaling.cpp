#include "analyzer/scaling/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "analyzer/comparison/difference.h"
#include "analyzer/diff/exact_mean.h"

namespace lockstep::analyzer {
namespace {

constexpr double kConfidence = 0.95;

using Group = std::vector<const ScaleRun*>;

// The mean over its ranks of each one's mean step, of one cause or of all.
double mean_step(const ScaleRun& run, std::optional<Cause> cause = std::nullopt) {
  double sum = 0;
  for (const RankSums& rank : run.sums.ranks)
    sum += static_cast<double>(cause ? rank.parts[*cause] : rank.parts.total()) /
           static_cast<double>(rank.steps);
  return sum / static_cast<double>(run.sums.ranks.size());
}

double mean_over(const Group& runs, std::optional<Cause> cause) {
  double sum = 0;
  for (const ScaleRun* run : runs) sum += mean_step(*run, cause);
  return sum / static_cast<double>(runs.size());
}

// Of each cause what it adds to the step, times `numerator` / `denominator`; not rounded yet.
std::array<ExactNs, kCauseCount> exact_causes(const Group& runs, std::int64_t numerator,
                                              std::int64_t denominator, bool waits_known) {
  std::array<ExactNs, kCauseCount> parts{};
  for (const ScaleRun* run : runs)
    for (const RankSums& rank : run->sums.ranks)
      for (std::size_t cause = 0; cause < kCauseCount; ++cause)
        parts[cause] +=
            quotient(rank.parts.ns[cause], rank.steps * static_cast<std::int64_t>(run->sums.ranks.size()) *
                                               static_cast<std::int64_t>(runs.size()));
  for (ExactNs& part : parts) part = part * numerator / denominator;
  if (!waits_known) {
    parts[static_cast<std::size_t>(Cause::transfer)] += parts[static_cast<std::size_t>(Cause::barrier_wait)];
    parts[static_cast<std::size_t>(Cause::barrier_wait)] = 0;
  }
  return parts;
}

Sample logarithms(const Group& runs) {
  std::vector<double> values;
  for (const ScaleRun* run : runs) values.push_back(std::log(mean_step(*run)));
  return sample_of(values);
}

// factor · T(base) / T(runs): of geometric means, whose logarithms Welch's interval is of.
Estimate efficiency(const Group& base, const Group& runs, double factor) {
  if (base == runs) return {.value = 1, .low = {}, .high = {}};  // by definition
  const Difference difference = analyzer::difference(logarithms(base), logarithms(runs));
  Estimate estimate{.value = factor * std::exp(difference.estimate), .low = {}, .high = {}};
  if (const auto low = lower_bound(difference, (1 + kConfidence) / 2)) estimate.low = factor * std::exp(*low);
  if (const auto high = upper_bound(difference, (1 + kConfidence) / 2))
    estimate.high = factor * std::exp(*high);
  return estimate;
}

std::optional<double> mean_of(const Group& runs, std::optional<double> ScaleRun::*figure) {
  double sum = 0;
  for (const ScaleRun* run : runs) {
    if (!(run->*figure)) return std::nullopt;
    sum += *(run->*figure);
  }
  return sum / static_cast<double>(runs.size());
}

// A rank that computes as much on more ranks scales weakly. Halfway between, on a logarithmic scale, decides.
ScalingKind guess(const std::map<std::int32_t, Group>& sizes) {
  const double before = mean_over(sizes.begin()->second, Cause::compute);
  const double after = mean_over(sizes.rbegin()->second, Cause::compute);
  const double more = static_cast<double>(sizes.rbegin()->first) / static_cast<double>(sizes.begin()->first);
  return before > 0 && after < before / std::sqrt(more) ? ScalingKind::strong : ScalingKind::weak;
}

std::vector<std::string> differences_of(const std::vector<ScaleRun>& runs) {
  constexpr std::array<std::string_view, 5> kExpected{"ranks", "hosts", "working folder", "cores of a rank",
                                                      "CUDA_VISIBLE_DEVICES"};
  std::set<std::string> names;
  const ScaleRun& first = runs.front();
  for (const ScaleRun& run : runs)
    for (const Suspect& suspect : suspects(first.settings, run.settings)) {
      // What a launcher is told.
      const bool is_number_of_ranks = suspect.a == std::to_string(first.sums.world_size) &&
                                      suspect.b == std::to_string(run.sums.world_size);
      if (!is_number_of_ranks && std::ranges::find(kExpected, suspect.name) == kExpected.end())
        names.insert(suspect.name);
    }
  return {names.begin(), names.end()};
}

ScalePoint point_of(std::int32_t ranks, const Group& runs, std::int32_t base_ranks, const Group& base,
                    const Scaling& scaling) {
  const bool weak = scaling.kind == ScalingKind::weak;
  ScalePoint point;
  point.ranks = ranks;
  for (const ScaleRun* run : runs) {
    point.paths.push_back(run->sums.path);
    if (point.shared.empty()) point.shared = run->shared;
  }
  const std::vector<std::int64_t> causes = rounded_together(exact_causes(runs, 1, 1, scaling.waits_known));
  const std::vector<std::int64_t> ideal =
      rounded_together(exact_causes(base, weak ? 1 : base_ranks, weak ? 1 : ranks, scaling.waits_known));
  for (std::size_t cause = 0; cause < kCauseCount; ++cause) {
    point.causes_ns[cause] = causes[cause];
    point.step_ns += causes[cause];
    point.ideal_ns += ideal[cause];
    point.loss_ns[cause] = causes[cause] - ideal[cause];
  }
  const double factor = weak ? 1 : static_cast<double>(base_ranks) / ranks;
  point.efficiency = efficiency(base, runs, factor);
  point.load_balance = mean_of(runs, &ScaleRun::load_balance);
  point.communication_efficiency = mean_of(runs, &ScaleRun::communication_efficiency);
  const double before = mean_over(base, Cause::compute), after = mean_over(runs, Cause::compute);
  if (before > 0 && after > 0) point.computation_scaling = factor * before / after;
  return point;
}

}  // namespace

const char* to_string(ScalingKind kind) {
  return kind == ScalingKind::weak ? "weak" : "strong";
}

Result<Scaling> scaling_of(const std::vector<ScaleRun>& runs, std::optional<ScalingKind> kind) {
  std::map<std::int32_t, Group> sizes;
  for (const ScaleRun& run : runs) {
    if (!run.sums.failure.empty())
      return Error{fmt::format("{}: {}; run it again, or leave it out", run.sums.path, run.sums.failure)};
    sizes[run.sums.world_size].push_back(&run);
  }
  std::vector<const RunSums*> all;
  for (const ScaleRun& run : runs) all.push_back(&run.sums);
  if (Status different = check_different(all); !different.ok()) return different.error();
  if (sizes.size() < 2)
    return Error{fmt::format("{}: to see how a job scales give runs of two sizes or more",
                             sizes.empty() ? std::string("there is no run")
                                           : fmt::format("all runs have {} ranks", sizes.begin()->first))};
  Scaling scaling;
  scaling.kind = kind.value_or(guess(sizes));
  scaling.kind_is_guessed = !kind;
  for (const ScaleRun& run : runs) scaling.waits_known = scaling.waits_known && run.sums.waits_known;
  const auto base = sizes.begin();
  const auto distributed =
      std::find_if(sizes.begin(), sizes.end(), [](const auto& size) { return size.first > 1; });
  for (const auto& [ranks, group] : sizes) {
    scaling.points.push_back(point_of(ranks, group, base->first, base->second, scaling));
    if (ranks < distributed->first) continue;
    const double factor =
        scaling.kind == ScalingKind::weak ? 1 : static_cast<double>(distributed->first) / ranks;
    scaling.points.back().efficiency_distributed = efficiency(distributed->second, group, factor);
  }
  scaling.messages = message_laws(runs);
  scaling.differences = differences_of(runs);
  std::vector<Capacity> capacities;
  for (const ScalePoint& point : scaling.points) {
    const double times = static_cast<double>(point.ranks) / base->first;
    capacities.push_back({times, times * point.efficiency.value});
  }
  scaling.law = speedup_law(capacities);
  return scaling;
}

}  // namespace lockstep::analyzer

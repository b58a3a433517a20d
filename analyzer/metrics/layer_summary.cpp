#include "analyzer/metrics/layer_summary.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyzer/intervals/median.h"
#include "analyzer/metrics/pipeline_regions.h"
#include "analyzer/model/stopped.h"

namespace lockstep::analyzer {
namespace {

constexpr std::array kPasses{Pass::forward, Pass::backward, Pass::recompute};

// One microbatch of one step; ranges without a microbatch stand for themselves.
using Turn = std::tuple<std::int32_t, std::optional<std::int64_t>, std::int32_t, std::size_t>;

struct PassSums {
  std::map<std::int32_t, std::int64_t> of_rank;  // each instant once: kernels may run beside each other
  std::map<std::int32_t, Nanoseconds> covered_until;
  std::map<Turn, std::int64_t> of_turn;
};
using LayerSums = std::array<PassSums, kPasses.size()>;

template <class Map>
std::int64_t median_of(const Map& sums) {
  std::vector<std::int64_t> values;
  values.reserve(sums.size());
  for (const auto& [key, value] : sums) values.push_back(value);
  return lower_median(std::move(values));
}

std::pair<std::int32_t, std::int64_t> greatest(const std::map<std::int32_t, std::int64_t>& sums) {
  return *std::max_element(sums.begin(), sums.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
}

std::optional<LayerPass> describe(const PassSums& sums) {
  if (sums.of_rank.empty()) return std::nullopt;
  LayerPass pass;
  pass.min_ns = std::min_element(sums.of_rank.begin(), sums.of_rank.end(), [](const auto& a, const auto& b) {
                  return a.second < b.second;
                })->second;
  pass.median_ns = median_of(sums.of_rank);
  for (const auto& [rank, ns] : sums.of_rank) pass.total_ns += ns;
  std::tie(pass.slowest_rank, pass.max_ns) = greatest(sums.of_rank);
  pass.microbatch_ns = median_of(sums.of_turn);
  return pass;
}

// What a range without a layer is a pass of: "forward embedding" of "embedding"; "" where its name says none.
// A kernel's own name says what it computes, not for which part of the model.
std::string part_name(const Job& job, const RankTrace& rank, const Activity& activity, Pass pass) {
  std::string_view name = job.strings.view(activity.name);
  const std::string_view word = trace::to_string(pass);
  if (name.starts_with(word))
    name.remove_prefix(word.size());
  else if (rank.lanes[activity.lane].kind == trace::LaneKind::device_stream)
    return {};
  while (name.starts_with(' ')) name.remove_prefix(1);
  return std::string(name);
}

}  // namespace

std::vector<LayerReport> summarise_layers(const Job& job,
                                          const std::function<bool(std::optional<std::int64_t>)>& selected,
                                          const std::stop_token& stop) {
  std::map<std::pair<std::int32_t, std::string>, LayerSums> layers;
  for (const RankTrace& rank : job.ranks) {
    throw_if_stopped(stop);
    if (rank.computations.empty()) continue;
    for (std::size_t index = 0; index < rank.activities.size(); ++index) {
      const Activity& activity = rank.activities[index];
      const Computation computation = computation_of(rank, activity);
      const auto pass = std::find(kPasses.begin(), kPasses.end(), computation.pass);
      if (pass == kPasses.end()) continue;
      const std::optional<std::int64_t> step = step_number(rank, activity);
      if (!selected(step)) continue;
      const std::string name = computation.layer >= 0 ? "" : part_name(job, rank, activity, computation.pass);
      if (computation.layer < 0 && name.empty()) continue;  // a pass of no part in particular
      PassSums& sums = layers[{computation.layer, name}][static_cast<std::size_t>(pass - kPasses.begin())];
      const std::int64_t length = activity.end - activity.begin;
      Nanoseconds& covered = sums.covered_until.try_emplace(rank.rank, activity.begin).first->second;
      sums.of_rank[rank.rank] += std::max<std::int64_t>(0, activity.end - std::max(activity.begin, covered));
      covered = std::max(covered, activity.end);
      const bool numbered = computation.microbatch >= 0;
      sums.of_turn[Turn(rank.rank, step, computation.microbatch, numbered ? 0 : index)] += length;
    }
  }
  std::vector<LayerReport> result;
  for (const auto& [key, sums] : layers) {
    LayerReport layer;
    if (key.first >= 0) layer.layer = key.first;
    layer.part = key.second;
    std::map<std::int32_t, std::int64_t> all;
    for (const PassSums& pass : sums)
      for (const auto& [rank, ns] : pass.of_rank) all[rank] += ns;
    for (const auto& [rank, ns] : all) layer.ranks.push_back(rank);
    layer.slowest_rank = greatest(all).first;
    layer.forward = describe(sums[0]);
    layer.backward = describe(sums[1]);
    layer.recompute = describe(sums[2]);
    result.push_back(std::move(layer));
  }
  return result;
}

}  // namespace lockstep::analyzer

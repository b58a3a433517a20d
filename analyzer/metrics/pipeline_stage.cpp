#include "analyzer/metrics/pipeline_stage.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "analyzer/metrics/pipeline_regions.h"

namespace lockstep::analyzer {
namespace {

bool is_of_pipeline(Pass pass) {
  return pass == Pass::forward || pass == Pass::backward || pass == Pass::recompute;
}

}  // namespace

StageTime::StageTime(const RankTrace& rank, const std::vector<CommunicationWait>& waits, bool passes_known)
    : rank_(&rank), passes_known_(passes_known) {
  std::vector<Interval> transfers;
  std::set<std::int32_t> layers;
  for (std::uint32_t index = 0; index < rank.activities.size(); ++index) {
    const Activity& activity = rank.activities[index];
    if (activity.communication != kNone) {
      transfers.push_back({waits[activity.communication].until, activity.end});
    } else if (activity.activity_class == Class::compute) {
      const Computation computation = computation_of(rank, activity);
      if (!passes_known || is_of_pipeline(computation.pass)) compute_.append(activity.begin, activity.end);
      if (!is_of_pipeline(computation.pass)) continue;
      passes_[step_number(rank, activity)].push_back(index);
      if (computation.pass == Pass::forward && computation.layer >= 0) layers.insert(computation.layer);
    }
  }
  busy_ = unite(compute_, IntervalSet::from(std::move(transfers)));
  layers_.assign(layers.begin(), layers.end());
  for (std::size_t i = 1; i < layers_.size(); ++i) {
    if (layers_[i] != layers_[i - 1] + 1) ++chunks_;
  }
}

// -1: no layer of the forward passes, so that the chunk is not known.
std::int32_t StageTime::chunk_of(std::int32_t layer) const {
  if (chunks_ == 1) return 0;
  std::int32_t chunk = 0;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (i > 0 && layers_[i] != layers_[i - 1] + 1) ++chunk;
    if (layers_[i] == layer) return chunk;
  }
  return -1;
}

std::vector<PassItem> StageTime::items(std::optional<std::int64_t> step) const {
  std::vector<PassItem> items;
  const auto found = passes_.find(step);
  if (found == passes_.end()) return items;
  for (const std::uint32_t index : found->second) {
    const Computation computation = computation_of(*rank_, rank_->activities[index]);
    if (computation.pass == Pass::recompute) continue;
    const PassItem item{computation.pass == Pass::forward, computation.microbatch,
                        chunk_of(computation.layer)};
    // What is no layer (embedding, head) belongs to the chunk beside it.
    const bool same = !items.empty() && items.back().forward == item.forward &&
                      items.back().microbatch == item.microbatch &&
                      (items.back().chunk == item.chunk || items.back().chunk < 0 || item.chunk < 0);
    if (!same) {
      items.push_back(item);
    } else if (items.back().chunk < 0) {
      items.back().chunk = item.chunk;
    }
  }
  return items;
}

void StageTime::add(Interval region, std::optional<std::int64_t> step, PipelineStage& sums) const {
  const std::int64_t compute = compute_.measure_within(region.begin, region.end);
  const std::int64_t busy = busy_.measure_within(region.begin, region.end);
  sums.compute_ns += compute;
  sums.exposed_transfer_ns += busy - compute;
  sums.bubble_ns += region.end - region.begin - busy;
  Nanoseconds first_backward = region.end, last_forward = region.begin;
  IntervalSet forward, backward, recompute;  // kernels of one pass may run at once
  if (const auto found = passes_.find(step); found != passes_.end()) {
    for (const std::uint32_t index : found->second) {
      const Activity& activity = rank_->activities[index];
      const Pass pass = computation_of(*rank_, activity).pass;
      (pass == Pass::forward    ? forward
       : pass == Pass::backward ? backward
                                : recompute)
          .append(activity.begin, activity.end);
      // Recomputation belongs to the backward that it is for.
      if (pass == Pass::forward) {
        last_forward = std::max(last_forward, activity.end);
      } else {
        first_backward = std::min(first_backward, activity.begin);
      }
    }
  }
  sums.forward_ns += forward.measure();
  sums.backward_ns += backward.measure();
  sums.recompute_ns += recompute.measure();
  if (!passes_known_) return;
  const auto bubble = [this](Nanoseconds begin, Nanoseconds end) {
    return end <= begin ? 0 : end - begin - busy_.measure_within(begin, end);
  };
  const Nanoseconds warm = std::clamp(first_backward, region.begin, region.end);
  const Nanoseconds cool = std::clamp(last_forward, warm, region.end);
  sums.warm_up_ns = sums.warm_up_ns.value_or(0) + bubble(region.begin, warm);
  sums.steady_ns = sums.steady_ns.value_or(0) + bubble(warm, cool);
  sums.cool_down_ns = sums.cool_down_ns.value_or(0) + bubble(cool, region.end);
}

}  // namespace lockstep::analyzer

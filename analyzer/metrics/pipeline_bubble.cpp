#include "analyzer/metrics/pipeline_bubble.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "analyzer/metrics/pipeline_schedule.h"
#include "analyzer/metrics/pipeline_stage.h"
#include "analyzer/model/stopped.h"

namespace lockstep::analyzer {
namespace {

// Stages in the order of the model where all tell their layers, else by rank.
void order_stages(std::vector<StageTime>& stages) {
  std::set<std::int32_t> first_layers;
  for (const StageTime& stage : stages)
    if (!stage.layers().empty()) first_layers.insert(stage.layers().front());
  if (first_layers.size() < stages.size()) return;
  std::sort(stages.begin(), stages.end(),
            [](const StageTime& a, const StageTime& b) { return a.layers().front() < b.layers().front(); });
}

class PipelineMeasure {
 public:
  PipelineMeasure(const Job& job, const MatchGroup& group, const JobWaits& waits,
                  std::span<const PipelineRegion> regions)
      : group_(group), regions_(regions) {
    report_.group = group.name;
    report_.stages = group.size;
    report_.steps = static_cast<std::int64_t>(regions.size());
    report_.passes_known = std::all_of(regions.begin(), regions.end(),
                                       [](const PipelineRegion& region) { return region.passes_known; });
    for (const std::size_t rank : present_members(job, group))
      stages_.emplace_back(job.ranks[rank], waits[rank], report_.passes_known);
    order_stages(stages_);
  }

  PipelineReport run() {
    measure();
    find_schedule();
    return std::move(report_);
  }

 private:
  void measure() {
    for (std::size_t number = 0; number < stages_.size(); ++number) {
      PipelineStage stage;
      stage.stage = static_cast<std::int32_t>(number);
      stage.rank = stages_[number].rank().rank;
      stage.layers = stages_[number].layers();
      for (const PipelineRegion& region : regions_) stages_[number].add(region.interval, region.step, stage);
      report_.bubble_ns += stage.bubble_ns;
      report_.stages_detail.push_back(std::move(stage));
    }
    for (const PipelineRegion& region : regions_)
      report_.region_ns += region.interval.end - region.interval.begin;
    const bool whole = static_cast<std::int32_t>(stages_.size()) == group_.size;
    const bool lost = std::any_of(stages_.begin(), stages_.end(), [&](const StageTime& stage) {
      return std::any_of(regions_.begin(), regions_.end(), [&](const PipelineRegion& region) {
        return stage.was_lost_within(region.interval);
      });
    });
    if (!whole) {
      report_.reason = {.code = PipelineReason::Code::ranks_missing,
                        .count = group_.size - static_cast<std::int32_t>(stages_.size()),
                        .of = group_.size};
    } else if (lost) {
      report_.reason.code = PipelineReason::Code::activities_lost;
    } else {
      report_.bubble_ratio = static_cast<double>(report_.bubble_ns) /
                             (static_cast<double>(report_.region_ns) * static_cast<double>(group_.size));
    }
  }

  void find_schedule() {
    if (report_.reason.code != PipelineReason::Code::none) return;
    if (!report_.passes_known) {
      report_.reason.code = PipelineReason::Code::passes_unknown;
      return;
    }
    std::vector<std::int32_t> chunks;
    for (const StageTime& stage : stages_) chunks.push_back(stage.chunks());
    const bool layers_known = std::none_of(stages_.begin(), stages_.end(),
                                           [](const StageTime& stage) { return stage.layers().empty(); });
    // What most steps show: a recording may begin in the middle of one.
    std::map<std::tuple<Schedule, std::int32_t, std::int32_t>, std::int64_t> counts;
    RecognisedSchedule chosen;
    std::int64_t most = 0;
    for (const PipelineRegion& region : regions_) {
      std::vector<std::vector<PassItem>> items;
      for (const StageTime& stage : stages_) items.push_back(stage.items(region.step));
      const RecognisedSchedule found = recognise(items, chunks, layers_known);
      std::int64_t& count = counts[{found.schedule, found.microbatches.value_or(-1), found.chunks}];
      if (++count <= most) continue;
      most = count;
      chosen = found;
    }
    report_.schedule = chosen.schedule;
    report_.microbatches = chosen.microbatches;
    report_.chunks = chosen.chunks;
    report_.bubble_ratio_ideal =
        ideal_bubble_ratio(chosen.schedule, group_.size, chosen.microbatches.value_or(0), chosen.chunks);
    report_.reason = chosen.reason;
  }

  const MatchGroup& group_;
  std::span<const PipelineRegion> regions_;
  std::vector<StageTime> stages_;
  PipelineReport report_;
};

}  // namespace

std::vector<PipelineReport> measure_pipelines(
    const Job& job, const Matching& matching, const JobWaits& waits,
    const std::vector<PipelineRegion>& regions,
    const std::function<bool(std::optional<std::int64_t>)>& selected, const std::stop_token& stop) {
  std::map<std::uint32_t, std::vector<PipelineRegion>> of_group;
  for (const PipelineRegion& region : regions) {
    if (selected(region.step)) of_group[region.group].push_back(region);
  }
  std::vector<PipelineReport> reports;
  for (const auto& [group, of_steps] : of_group) {
    throw_if_stopped(stop);
    reports.push_back(PipelineMeasure(job, matching.groups[group], waits, of_steps).run());
  }
  return reports;
}

}  // namespace lockstep::analyzer

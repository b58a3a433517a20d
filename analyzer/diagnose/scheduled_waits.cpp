#include "analyzer/diagnose/scheduled_waits.h"

#include <algorithm>

#include "analyzer/diagnose/blame.h"
#include "analyzer/diagnose/stage_imbalance.h"
#include "analyzer/model/operation.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
ScheduledWaits::ScheduledWaits(const Job& job, const Report& report, const std::vector<IntervalSet>& regions)
    : idle_(find_idle_stages(job, report, regions)) {
  for (const PipelineReport& pipeline : report.pipeline) {
    if (pipeline.stages_detail.empty()) continue;
    const std::int64_t median = median_compute(pipeline);
    for (const PipelineStage& stage : pipeline.stages_detail) {
      if (computes_too_much(stage.compute_ns, median)) continue;
      on_schedule_.emplace(pipeline.group, stage.rank);
      if (stage.stage != 0) continue;
      for (const PipelineStage& other : pipeline.stages_detail)
        if (other.stage != 0) others_of_first_[stage.rank].insert(other.rank);
    }
  }
  if (on_schedule_.empty()) return;
  for (const CollectiveReport& collective : report.collectives) {
    if (!contains(collective)) continue;
    Sum& sum = scheduled_[*collective.last_arriver];
    ++sum.collectives;
    sum.blame_ns = saturating_add(sum.blame_ns, blame_in(collective));
  }
  exposed_ = exposed_waits(job, report,
                           [this](const CollectiveReport& collective) { return !contains(collective); });
  for (const auto& [rank, ns] : exposed_waits(
           job, report, [this](const CollectiveReport& collective) { return is_drain(collective); }))
    in_collectives_ns_ = saturating_add(in_collectives_ns_, ns);
}

bool ScheduledWaits::is_drain(const CollectiveReport& collective) const {
  if (!collective.last_arriver || is_point_to_point(collective.operation)) return false;
  const auto first = others_of_first_.find(*collective.last_arriver);
  return first != others_of_first_.end() &&
         std::any_of(collective.ranks.begin(), collective.ranks.end(),
                     [&](const CollectiveRank& rank) { return first->second.contains(rank.rank); });
}

bool ScheduledWaits::contains(const CollectiveReport& collective) const {
  if (!collective.last_arriver) return false;
  if (!is_point_to_point(collective.operation)) return is_drain(collective);
  return is_on_schedule(collective) && !idle_.mostly_idle(collective);
}

bool ScheduledWaits::is_on_schedule(const CollectiveReport& message) const {
  return on_schedule_.contains({message.group_name, *message.last_arriver});
}

bool ScheduledWaits::is_on_schedule(std::int32_t rank) const {
  return std::any_of(on_schedule_.begin(), on_schedule_.end(),
                     [rank](const auto& stage) { return stage.second == rank; });
}

std::int64_t ScheduledWaits::off_schedule_in(const CollectiveReport& collective) const {
  if (!collective.last_arriver) return 0;
  const bool scheduled =
      is_point_to_point(collective.operation) ? is_on_schedule(collective) : is_drain(collective);
  return scheduled ? 0 : exposed_in(collective);
}

void ScheduledWaits::take_from(BlameReport& blame) const {
  if (on_schedule_.empty()) return;
  if (const auto sum = scheduled_.find(blame.rank); sum != scheduled_.end()) {
    blame.collectives -= sum->second.collectives;
    blame.blame_ns -= sum->second.blame_ns;
  }
  const auto found = exposed_.find(blame.rank);
  blame.exposed_ns = found == exposed_.end() ? 0 : found->second;
}

void ScheduledWaits::note_in(BlameReport& blame) const {
  BlameReport rest = blame;
  take_from(rest);
  blame.scheduled_ns = blame.blame_ns - rest.blame_ns;
  blame.scheduled_exposed_ns = blame.exposed_ns - rest.exposed_ns;
  blame.scheduled_collectives = blame.collectives - rest.collectives;
}

}  // namespace lockstep::analyzer

#include "analyzer/diagnose/job_lateness.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/diagnose/blame.h"
#include "analyzer/diagnose/scheduled_waits.h"
#include "analyzer/intervals/time_math.h"

namespace lockstep::analyzer {

StepTable table_of_steps(const Job& job, const Report& report) {
  const bool staged =
      std::any_of(report.pipeline.begin(), report.pipeline.end(),
                  [](const PipelineReport& pipeline) { return !pipeline.stages_detail.empty(); });
  if (!staged) return make_step_table(report);
  const ScheduledWaits scheduled(job, report);
  std::map<std::pair<std::int64_t, std::int32_t>, std::int64_t> waited;
  for (const CollectiveReport& collective : report.collectives) {
    if (!collective.step || !collective.last_arriver || scheduled.contains(collective)) continue;
    std::int64_t& sum = waited[{*collective.step, *collective.last_arriver}];
    sum = saturating_add(sum, exposed_in(collective));
  }
  const auto others = static_cast<std::int64_t>(std::max<std::size_t>(2, report.ranks.size()) - 1);
  return make_step_table(report, [&](std::int64_t step, std::int32_t rank) {
    const auto found = waited.find({step, rank});
    return found == waited.end() ? 0 : found->second / others;
  });
}

}  // namespace lockstep::analyzer

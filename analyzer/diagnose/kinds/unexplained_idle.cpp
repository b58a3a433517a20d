// Time that the trace does not explain.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/named_alike.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kUnexplainedIdleRemedies =
    std::to_array<Remedy>({{"torch.profiler", "whole steps, with activities CPU and CUDA"},
                           {"the program", "ranges around data loading, checkpoints and evaluation"}});
constexpr Explanation kUnexplainedIdleExplained{
    .meaning = "Neither compute nor communication nor a known reason to idle.",
    .found =
        "`other` reaches 5 % of all time, without what of it kernels run that look like communication by "
        "their names (the warning `unclassified`).",
    .wrong =
        "The time lies outside of the steps, or between two recordings: `lockstep view` shows it, --steps "
        "leaves it out.",
    .lost = "all of it",
    .remedies = kUnexplainedIdleRemedies,
};
constexpr FindingKind kUnexplainedIdle{
    .code = "unexplained_idle",
    .title = "time that the trace does not explain",
    .cause = Cause::other,
    .points_at = PointsAt::worst_step,
    .picture = "cause",
    .explanation = &kUnexplainedIdleExplained,
};
constexpr auto kUnexplainedIdleKinds = std::to_array<const FindingKind*>({&kUnexplainedIdle});

void find_unexplained_idle(const FindingContext& context, std::vector<Finding>& findings) {
  const std::int64_t other = context.total(Cause::other);
  if (!context.is_left_over(findings, Cause::other, other)) return;
  // In which a kernel runs that has a name: of these communication_unrecognised and a warning tell.
  const std::int64_t named =
      std::min(other, named_alike_time(context.diagnosis.job, context.report).alone_ns);
  if (!context.is_left_over(findings, Cause::other, other - named)) return;
  Finding finding = context.all_of_its_cause(kUnexplainedIdle);
  finding.lost_ns = other - named;
  if (named > 0)
    finding.evidence.push_back(fmt::format("not counted: {} of kernels that look like communication by name",
                                           format_duration(named)));
  finding.remedy =
      "record launches and host ranges too: torch.profiler with activities CPU and CUDA, over whole "
      "steps";
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::unexplained_idle{kUnexplainedIdleKinds, find_unexplained_idle};

}  // namespace lockstep::analyzer

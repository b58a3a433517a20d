// Ranks wait for each other, and none alone is to blame for half of it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kImbalanceRemedies =
    std::to_array<Remedy>({{"the program",
                            "lengths of batches that differ from step to step; garbage collection "
                            "(gc.freeze(), or collecting on all ranks in the same step)"},
                           {"PyTorch", "`no_sync()` over more accumulation steps: fewer meetings"}});
constexpr Explanation kImbalanceExplained{
    .meaning =
        "Much time is spent waiting in collectives, and no single rank is late often enough to be a "
        "straggler.",
    .found =
        "Exposed barrier waits reach 5 % of all time and no straggler explains half of them. A rank that two "
        "thirds of these waits are for is named.",
    .wrong =
        "The waits are in a few operations only (start-up, checkpoints): select other steps with --steps.",
    .lost = "all exposed waiting",
    .remedies = kImbalanceRemedies,
};
constexpr FindingKind kImbalance{
    .code = "imbalance",
    .title = "ranks wait for each other in turn",
    .cause = Cause::barrier_wait,
    .points_at = PointsAt::worst_operation,
    .picture = Picture::cause,
    .explanation = &kImbalanceExplained,
};
constexpr auto kKinds = std::to_array<const FindingKind*>({&kImbalance});

struct Words {
  std::string title;
  std::string remedy;
  Accused accuses = Accused::nobody;
};

// Where it is mostly one rank that the others wait for, though not often enough for a straggler, that is
// said.
Words words_for_waiting(const Report& report) {
  std::int64_t all = 0;
  const BlameReport* most = nullptr;
  for (const BlameReport& blame : report.blame) {
    all += blame.exposed_ns;
    if (most == nullptr || blame.exposed_ns > most->exposed_ns) most = &blame;
  }
  if (most != nullptr && 3 * most->exposed_ns >= 2 * all) {
    return {
        fmt::format("the others wait for rank {}, most of it in too few operations to call it slow",
                    most->rank),
        fmt::format("look at what rank {} did before the operations that waited longest for it (the table of "
                    "collectives names them): a start-up, a checkpoint, a pause",
                    most->rank),
        Accused::rank};
  }
  if (report.steps_present.size() < 2) {
    return {"ranks wait for each other in turn: no single one holds the others up",
            "record several steps: one alone does not show whether it is the same rank each time"};
  }
  return {"ranks wait for each other in turn: no single one holds the others up",
          "look for what differs from step to step (lengths of batches, jitter of hosts): `lockstep analyze "
          "--steps N` of a slow and of a fast step"};
}

void find_imbalance(const FindingContext& context, std::vector<Finding>& findings) {
  const std::int64_t all = context.total(Cause::barrier_wait);
  const std::int64_t lost = all - std::min(context.scheduled.in_collectives_ns(), all);
  if (!context.is_left_over(findings, Cause::barrier_wait, lost)) return;
  Finding finding = context.all_of_its_cause(kImbalance);
  finding.lost_ns = lost;
  Words words = words_for_waiting(context.report);
  finding.title = std::move(words.title);
  finding.remedy = std::move(words.remedy);
  finding.accuses = words.accuses;
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::imbalance{kKinds, find_imbalance};

}  // namespace lockstep::analyzer

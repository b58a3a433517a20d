// Much of a run is start-up.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "analyzer/account/account.h"
#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/long_phase.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kStartUpRemedies = std::to_array<Remedy>(
    {{"the program",
      "cache prepared data sets; load the model's weights from a local disk, each rank its part"},
     {"Python", "packages on a local disk or in an image instead of a network file system"},
     {"PyTorch, DeepSpeed",
      "`TORCH_EXTENSIONS_DIR` on a disk that outlives the job, or DeepSpeed's operators built in advance "
      "(`DS_BUILD_OPS=1`)"}});
constexpr Explanation kStartUpExplained{
    .meaning =
        "Much of the run went by before its first step computed: imports, process groups, the model, data.",
    .found =
        "`start_up` of the run's account, before the first computation of the first step: a minute or more "
        "on average over the ranks, and 10 % or more of what was recorded. Stands behind all other findings. "
        "In a job without steps: before the first operation in a rank's trace, more than half of what was "
        "recorded, from the start on and of whole files; then it stands among the other findings, by what it "
        "takes.",
    .wrong =
        "The recording is short: in a run of a day the same start-up is nothing. Without steps: the job "
        "computed what was not recorded.",
    .lost = "that time, of each rank",
    .remedies = kStartUpRemedies,
};
constexpr FindingKind kStartUp{
    .code = "start_up_long",
    .title = "much of the run is start-up",
    .accuses = Accused::job,
    .share = Share::of_run,
    .explanation = &kStartUpExplained,
};
constexpr auto kStartUpLongKinds = std::to_array<const FindingKind*>({&kStartUp});

// Whether all of the rank's time from its start on was recorded, so that nothing ran before its first
// operation of which the trace does not know for want of records.
bool is_whole_from_start(const RankTrace& rank) {
  return !is_part_of_a_run(rank) && rank.steps.empty() && !rank.activities.empty() &&
         rank.unrecorded.empty() && rank.lost.empty() && rank.dropped_events == 0;
}

// Of a job that never came to a step, or marks none.
void find_without_steps(const FindingContext& context, std::vector<Finding>& findings) {
  const AccountReport& account = context.report.account;
  const std::vector<RankTrace>& ranks = context.diagnosis.job.ranks;
  const std::int64_t start_up = account.spent[Spending::start_up];
  if (!std::all_of(ranks.begin(), ranks.end(), is_whole_from_start)) return;
  if (start_up <= account.recorded_ns() / 2) return;
  if (!add_long_phase(
          context, kStartUp, start_up,
          "see what the job printed until then: what is built (TORCH_EXTENSIONS_DIR on a disk that outlives "
          "the job, or built in advance), downloaded or loaded (data sets and weights near the job)",
          findings))
    return;
  findings.back().title =
      fmt::format("start-up is most of the run: its first operation comes after {} of {}",
                  format_duration(start_up / static_cast<std::int64_t>(account.ranks.size())),
                  format_duration(account.wall_ns));
  findings.back().accuses = Accused::nobody;
}

void find_start_up(const FindingContext& context, std::vector<Finding>& findings) {
  const AccountReport& account = context.report.account;
  if (account.ranks.empty()) return;
  if (!account.goodput) return find_without_steps(context, findings);
  add_long_phase(context, kStartUp, account.spent[Spending::start_up],
                 "a longer run needs nothing; else cache data sets and weights near the job", findings);
}

}  // namespace

const FindingRule rules::start_up_long{kStartUpLongKinds, find_start_up};

}  // namespace lockstep::analyzer

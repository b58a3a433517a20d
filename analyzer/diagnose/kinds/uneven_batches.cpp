// Ranks that have more to compute now and then, each in its turn: batches of different sizes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/intervals/median.h"
#include "analyzer/intervals/time_math.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kUnevenBatchesRemedies = std::to_array<Remedy>(
    {{"PyTorch",
      "a batch sampler that puts samples of like length together; packed sequences; batches by tokens"},
     {"Megatron", "packed sequences instead of --variable-seq-lengths"},
     {"the program", "more accumulation steps between two meetings: unevenness evens out"}});
constexpr Explanation kUnevenBatchesExplained{
    .meaning =
        "Each step waits for the rank with the largest batch: longer sequences, larger images. It is another "
        "rank each time, so that none of them is slow.",
    .found =
        "In the median step the rank that computes longest takes at least 10 % longer than the one that "
        "computes shortest, and no rank is the longest in more than half of the steps; what the ranks wait "
        "in collectives, at most what they compute less than the longest, reaches 3 %. Not of pipelines; "
        "four steps at least.",
    .wrong =
        "The batches of a slow step hold as much as those of others: then hosts are disturbed in turn "
        "(clocks, throttling; `lockstep record --cpu`).",
    .lost = "that waiting",
    .remedies = kUnevenBatchesRemedies,
};
constexpr FindingKind kUnevenBatches{
    .code = "uneven_batches",
    .title = "ranks have more to compute than others in turn",
    .cause = Cause::barrier_wait,
    .accounts = Accounts::yes,
    .accuses = Accused::job,
    .points_at = PointsAt::worst_operation,
    .picture = Picture::batches,
    .explanation = &kUnevenBatchesExplained,
};
constexpr auto kKinds = std::to_array<const FindingKind*>({&kUnevenBatches});

constexpr std::int64_t kUnevenPermille = 30;
constexpr std::size_t kLeastSteps = 4;
constexpr std::int64_t kLeastSpreadPermille = 100;  // of the shortest compute of a step's ranks

struct Rows {
  std::vector<const StepReport*> ranks;
  const StepReport* longest() const {
    return *std::max_element(ranks.begin(), ranks.end(), [](const StepReport* a, const StepReport* b) {
      return a->measures.compute_ns < b->measures.compute_ns;
    });
  }
  const StepReport* shortest() const {
    return *std::min_element(ranks.begin(), ranks.end(), [](const StepReport* a, const StepReport* b) {
      return a->measures.compute_ns < b->measures.compute_ns;
    });
  }
};

// Steps of which every rank is known.
std::map<std::int64_t, Rows> rows_by_step(const Report& report) {
  std::map<std::int64_t, Rows> steps;
  for (const StepReport& step : report.steps) {
    if (step.measures.known && step.measures.waits_known) steps[step.step].ranks.push_back(&step);
  }
  std::erase_if(steps, [&](const auto& step) { return step.second.ranks.size() != report.ranks.size(); });
  return steps;
}

void find_uneven_batches(const FindingContext& context, std::vector<Finding>& findings) {
  const Report& report = context.report;
  // Stages of a pipeline have different work on purpose.
  if (report.ranks.size() < 2 || !report.pipeline.empty()) return;
  const std::map<std::int64_t, Rows> steps = rows_by_step(report);
  if (steps.size() < kLeastSteps) return;
  std::map<std::int32_t, std::size_t> longest_in;
  std::vector<std::int64_t> spreads;  // permille
  std::int64_t lost = 0;
  const Rows* widest = nullptr;
  std::int64_t widest_ns = -1, widest_step = 0;
  for (const auto& [number, rows] : steps) {
    const std::int64_t most = rows.longest()->measures.compute_ns,
                       least = rows.shortest()->measures.compute_ns;
    ++longest_in[rows.longest()->rank];
    if (least <= 0) return;
    spreads.push_back((most - least) / std::max<std::int64_t>(1, least / 1000));
    for (const StepReport* rank : rows.ranks)
      lost =
          saturating_add(lost, std::min(rank->measures.collective_wait_ns, most - rank->measures.compute_ns));
    if (most - least > widest_ns) {
      widest = &rows;
      widest_ns = most - least;
      widest_step = number;
    }
  }
  const std::int64_t spread = lower_median(spreads);
  const auto often = std::max_element(longest_in.begin(), longest_in.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  // Mostly the same rank: that one is a straggler.
  if (2 * often->second > steps.size() || spread < kLeastSpreadPermille) return;
  if (!context.is_worth(lost, kUnevenPermille)) return;
  Finding finding = kUnevenBatches.make();
  finding.title = "ranks have more to compute than others in turn, and those wait: batches are uneven";
  finding.evidence = {
      fmt::format("in the median step the rank that computes longest takes {} longer than the one that "
                  "computes shortest; "
                  "{} of {} ranks are the longest in some step, rank {} most often ({} of {} steps)",
                  format_share(spread, 1000), longest_in.size(), report.ranks.size(), often->first,
                  often->second, steps.size()),
      fmt::format("widest in step {}: rank {} computes for {}, rank {} for {}", widest_step,
                  widest->longest()->rank, format_duration(widest->longest()->measures.compute_ns),
                  widest->shortest()->rank, format_duration(widest->shortest()->measures.compute_ns))};
  finding.remedy =
      "give every rank the same work: batches by tokens and not by samples, samples of like length together "
      "(a batch "
      "sampler that sorts within a window), sequences packed; images of one batch of one size. Or meet less "
      "often: more "
      "accumulation steps with `no_sync()`";
  finding.lost_ns = lost;
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::uneven_batches{kKinds, find_uneven_batches};

}  // namespace lockstep::analyzer

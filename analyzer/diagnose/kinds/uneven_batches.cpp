// Ranks that have more to compute now and then, each in its turn, mostly because their batches are larger
// then.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/cell_statistics.h"
#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/kernel_pace.h"
#include "analyzer/diagnose/root_cause.h"
#include "analyzer/diagnose/step_work.h"
#include "analyzer/intervals/median.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/text_sections.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kUnevenBatchesRemedies = std::to_array<Remedy>(
    {{"PyTorch",
      "a batch sampler that puts samples of like length together; packed sequences; batches by tokens"},
     {"mixture of experts", "a capacity factor; a stronger balancing loss"},
     {"Megatron", "packed sequences instead of --variable-seq-lengths"},
     {"the program", "more accumulation steps between two meetings: unevenness evens out"}});
constexpr Explanation kUnevenBatchesExplained{
    .meaning =
        "Each step waits for the rank that has most to compute in it: the largest batch (longer sequences, "
        "larger images), or the experts that most tokens were routed to. It is another rank each time, so that "
        "none of them is late throughout. Where kernels tell the work and one takes longer for as much of it, the "
        "evidence says so: a slow GPU that the unevenness hides.",
    .found =
        "What a rank computes follows what it is given to do: a counter that tells the size of its batch "
        "(tokens, samples, batch size, sequence length), or on GPUs the warps that its kernels launch (each "
        "name's weighed by what a warp of it takes on all ranks) or, where sizes were not recorded, their "
        "number, correlates with its compute by 0.7 or more (Pearson; Spearman 0.4 or more, lest a few steps "
        "make it alone), both taken as deviations from the median of their step, less the rank's own median. "
        "Kernels count if more than half of the ranks run them, and only where they differ between ranks in "
        "half of the steps or more. In the median step the rank that computes "
        "longest takes at least 10 % longer than the one that computes shortest, no rank computes longest in "
        "more than four of five steps or is late again and again, and what the ranks wait in collectives, at most what they compute less than the longest, "
        "reaches 3 %. Not of pipelines; four steps at least. Longer compute alone is no evidence of larger "
        "batches: that is jitter.",
    .wrong =
        "The counter tells something else than the size of a batch. Told by kernels, work may differ in turn "
        "for other reasons than batches: layers that are dropped or recomputed, an evaluation on one rank. The "
        "evidence names the kernels.",
    .lost = "that waiting",
    .remedies = kUnevenBatchesRemedies,
};
constexpr FindingKind kUnevenBatches{
    .code = "uneven_batches",
    .title =
        "batches are uneven, so that another rank computes longest in each step and the others wait for it",
    .cause = Cause::barrier_wait,
    .accounts = Accounts::yes,
    .accuses = Accused::job,
    .points_at = PointsAt::worst_operation,
    .picture = "batches",
    .explanation = &kUnevenBatchesExplained,
};
constexpr auto kUnevenBatchesKinds = std::to_array<const FindingKind*>({&kUnevenBatches});

constexpr std::int64_t kUnevenPermille = 30;
constexpr std::size_t kLeastSteps = 4;
constexpr std::int64_t kLeastSpreadPermille = 100;  // of the shortest compute of a step's ranks
constexpr double kFollows = 0.7, kFollowsByRank = 0.4;
constexpr std::size_t kKernelsNamed = 3;
constexpr double kPartNamed = 0.05;
// Of the steps in which one rank may compute longest: beyond, they do not take turns. Where it is not late
// (of ranks that share a GPU, turns may explain what one computes longer) nobody knows why.
constexpr std::size_t kMostLongest = 4, kOfSteps = 5;

// One step: what its ranks compute.
struct Row {
  std::size_t longest = 0, shortest = 0;
};
Row row_of(const StepTable& table, std::size_t step) {
  Row row;
  for (std::size_t rank = 1; rank < table.rank_count(); ++rank) {
    const std::int64_t ns = table.cell(step, rank).measures.compute_ns;
    if (ns > table.cell(step, row.longest).measures.compute_ns) row.longest = rank;
    if (ns < table.cell(step, row.shortest).measures.compute_ns) row.shortest = rank;
  }
  return row;
}

// Kernels tell that there was more work, and not whose doing that was.
void say_which_kernels(const FindingContext& context, const KernelWork& work, Finding& finding) {
  const Job& job = context.diagnosis.job;
  finding.title =
      "work is uneven, so that another rank computes longest in each step and the others wait for it";
  // Kernels that differ in the arguments of their template alone have one name.
  std::vector<std::pair<std::string, double>> by_name;
  for (const KernelWork::Difference& difference : work.differences()) {
    std::string name = short_name(job.strings.view(difference.name));
    const auto known =
        std::find_if(by_name.begin(), by_name.end(), [&](const auto& one) { return one.first == name; });
    if (known == by_name.end())
      by_name.emplace_back(std::move(name), difference.part);
    else
      known->second += difference.part;
  }
  std::stable_sort(by_name.begin(), by_name.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string kernels;
  for (std::size_t i = 0; i < std::min(kKernelsNamed, by_name.size()); ++i) {
    const auto& [name, part] = by_name[i];
    if (i > 0 && part < kPartNamed) break;
    kernels += fmt::format("{}`{}` ({:.0f} %)", i == 0 ? "" : ", ", name, 100 * part);
  }
  if (!kernels.empty())
    finding.evidence.push_back(
        fmt::format("of what ranks have more or less to do, most lies in {}", kernels));
  const bool has_experts = std::any_of(job.ranks.begin(), job.ranks.end(), [](const RankTrace& rank) {
    return std::any_of(rank.communications.begin(), rank.communications.end(),
                       [](const Communication& one) { return one.operation == Operation::all_to_all; });
  });
  if (has_experts)
    finding.remedy =
        "where those kernels are the experts', balance the routing: a capacity factor, a stronger balancing "
        "loss. Else ";
}

// What they have to do varies by more than they are slow.
void say_who_is_slow(const std::vector<SlowerRank>& slower, std::size_t steps, Finding& finding) {
  if (slower.empty()) return;
  std::vector<std::int32_t> ranks;
  ranks.reserve(slower.size());
  for (const SlowerRank& rank : slower) ranks.push_back(rank.rank);
  const auto by_times = [](const SlowerRank& a, const SlowerRank& b) { return a.times < b.times; };
  const auto by_steps = [](const SlowerRank& a, const SlowerRank& b) { return a.steps < b.steps; };
  const auto [least, most] = std::minmax_element(slower.begin(), slower.end(), by_times);
  const std::size_t in_steps = std::min_element(slower.begin(), slower.end(), by_steps)->steps;
  finding.evidence.push_back(fmt::format(
      "{} also {} {} times as long as the others for as much work, in {} of {}: look at the GPU's clocks too "
      "(`lockstep record --cpu`)",
      name_ranks(ranks), slower.size() == 1 ? "takes" : "take",
      slower.size() == 1 ? fmt::format("{:.2f}", least->times)
                         : fmt::format("{:.2f} to {:.2f}", least->times, most->times),
      in_steps, format_plural(static_cast<std::int64_t>(steps), "step")));
}

void find_uneven_batches(const FindingContext& context, std::vector<Finding>& findings) {
  const Report& report = context.report;
  const StepTable& table = context.steps;
  // Stages of a pipeline have different work on purpose.
  if (!report.pipeline.empty() || table.steps.size() < kLeastSteps) return;
  const auto is_late = [](const RankLateness& rank) { return rank.is_late; };
  if (std::any_of(report.lateness.ranks.begin(), report.lateness.ranks.end(), is_late)) return;
  std::vector<std::int64_t> spreads;  // permille
  std::int64_t lost = 0, widest_ns = -1;
  std::size_t widest = 0;
  std::vector<std::size_t> longest_in(table.rank_count());
  for (std::size_t step = 0; step < table.steps.size(); ++step) {
    const Row row = row_of(table, step);
    const std::int64_t most = table.cell(step, row.longest).measures.compute_ns,
                       least = table.cell(step, row.shortest).measures.compute_ns;
    if (least <= 0) return;
    ++longest_in[row.longest];
    spreads.push_back((most - least) / std::max<std::int64_t>(1, least / 1000));
    for (std::size_t rank = 0; rank < table.rank_count(); ++rank) {
      const Measures& measures = table.cell(step, rank).measures;
      lost =
          saturating_add(lost, std::min(measures.partition[Cause::barrier_wait], most - measures.compute_ns));
    }
    if (most - least > widest_ns) {
      widest_ns = most - least;
      widest = step;
    }
  }
  if (kOfSteps * *std::max_element(longest_in.begin(), longest_in.end()) > kMostLongest * table.steps.size())
    return;
  const std::int64_t spread = lower_median(spreads);
  if (spread < kLeastSpreadPermille || !context.is_worth(lost, kUnevenPermille)) return;
  const Job& job = context.diagnosis.job;
  const std::optional<StepWork> work =
      work_of_steps(job, table, KernelWork::read(job, table, KernelMeasure::launch_size));
  if (!work) return;
  const Correlation correlation = correlation_in_turn(table, work->amount, compute_of_steps(table));
  if (correlation.of_values < kFollows || correlation.of_ranks < kFollowsByRank) return;

  Finding finding = kUnevenBatches.make();
  const auto ranks = static_cast<std::size_t>(
      std::count_if(longest_in.begin(), longest_in.end(), [](std::size_t steps) { return steps > 0; }));
  const Row row = row_of(table, widest);
  finding.evidence = {
      fmt::format("what ranks compute follows {}: correlation {:.2f} over {} steps", work->what,
                  correlation.of_values, table.steps.size()),
      fmt::format(
          "in the median step the rank that computes longest takes {} longer than the one that computes "
          "shortest; {} of {} ranks are the longest in some step",
          format_share(spread, 1000), ranks, table.rank_count()),
      fmt::format(
          "widest in step {}: rank {} computes for {}, rank {} for {}", table.steps[widest],
          table.ranks[row.longest], format_duration(table.cell(widest, row.longest).measures.compute_ns),
          table.ranks[row.shortest], format_duration(table.cell(widest, row.shortest).measures.compute_ns))};
  if (work->kernels) {
    say_which_kernels(context, *work->kernels, finding);
    say_who_is_slow(slower_ranks(job, table, *work->kernels), table.steps.size(), finding);
  }
  finding.remedy +=
      "give every rank the same work: batches by tokens and not by samples, samples of like length together "
      "(a batch sampler that sorts within a window), sequences packed; images of one batch of one size. Or "
      "meet less often: more accumulation steps with `no_sync()`";
  finding.lost_ns = lost;
  findings.push_back(std::move(finding));
}

}  // namespace

const FindingRule rules::uneven_batches{kUnevenBatchesKinds, find_uneven_batches};

}  // namespace lockstep::analyzer

#include "analyzer/diagnose/early_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/diagnose/cell_statistics.h"
#include "analyzer/diagnose/kernel_work.h"
#include "analyzer/model/gpus.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/text_sections.h"

namespace lockstep::analyzer {
namespace {

// Parts of what they compute for less time that have to lie in their having less to do for that to be why, or
// at most for their pace to be.
constexpr double kWhy = 0.75, kNotWhy = 0.25;

// Of each early rank, how many times as much it has to compute as the others; none where one is not known.
std::vector<double> work_of(const FindingContext& context, const EarlyRanks& early) {
  const Job& job = context.diagnosis.job;
  if (!ranks_that_share_gpus(job).empty()) return {};
  const std::optional<KernelWork> work = KernelWork::read(job, context.steps, KernelMeasure::launch_size);
  if (!work) return {};
  std::vector<double> times;
  for (std::size_t rank = 0; rank < context.steps.rank_count(); ++rank) {
    if (std::find(early.ranks.begin(), early.ranks.end(), context.steps.ranks[rank]) == early.ranks.end())
      continue;
    const std::optional<double> one = amount_beside_others(context.steps, work->amount(), rank);
    if (!one) return {};
    times.push_back(*one);
  }
  return times;
}

}  // namespace

void describe_early(const FindingContext& context, const EarlyRanks& early, Finding& finding) {
  const bool is_one = early.ranks.size() == 1;
  finding.title = fmt::format(
      "{} {} for less time than the others in nearly every step and {} for them: {} of all that ranks wait",
      name_ranks(early.ranks), is_one ? "computes" : "compute", is_one ? "waits" : "wait",
      format_share(early.waited_ns, early.all_ns));
  finding.evidence.push_back(
      fmt::format("in a step {} for {}, the others for {} (means)", is_one ? "it computes" : "they compute",
                  format_duration(early.compute_ns), format_duration(early.others_ns)));
  finding.evidence.emplace_back("none of the others is late beyond chance");
  constexpr const char* kBalance = "batches by tokens, layers and experts by cost";
  constexpr const char* kDevices =
      "compare the ranks' devices, their clocks (`lockstep record --cpu`), and what else runs there";
  finding.remedy = fmt::format(
      "see whether {} less to do: {}; a counter `tokens` (docs/instrumentation.md) tells. Else {}",
      is_one ? "it has" : "they have", kBalance, kDevices);
  const std::vector<double> work = work_of(context, early);
  if (work.empty() || early.others_ns <= 0) return;
  const auto [least, most] = std::minmax_element(work.begin(), work.end());
  std::string times = fmt::format("{:.2f}", *least);
  if (const std::string highest = fmt::format("{:.2f}", *most); highest != times) times += " to " + highest;
  finding.evidence.push_back(
      fmt::format("by the sizes of {} kernels, {} {} times as much to compute as the others",
                  is_one ? "its" : "their", is_one ? "it has" : "they have", times));
  const double shorter = 1 - static_cast<double>(early.compute_ns) / static_cast<double>(early.others_ns);
  if (1 - *most >= kWhy * shorter)
    finding.remedy = fmt::format("give {} as much to do as the others: {}", is_one ? "it" : "them", kBalance);
  else if (1 - *least <= kNotWhy * shorter)
    finding.remedy = fmt::format("{} takes less time for as much: {}",
                                 is_one ? "its GPU" : "each of their GPUs", kDevices);
}

}  // namespace lockstep::analyzer

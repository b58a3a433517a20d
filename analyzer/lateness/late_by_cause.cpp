#include "analyzer/lateness/late_by_cause.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "analyzer/intervals/median.h"
#include "analyzer/lateness/standing_out.h"
#include "analyzer/statistics/block_test.h"
#include "analyzer/statistics/place_sums.h"
#include "analyzer/statistics/standard_error.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kCauses = std::to_array<Cause>({Cause::data_wait, Cause::host_bound, Cause::copy});
constexpr std::size_t kBlocks = 12;
constexpr double kConsistent = 0.8;  // of the steps
constexpr double kErrors = 2;        // standard errors that the lateness is given
constexpr double kExplains = 0.5;
// Of a step: healthy ranks whose steps vary by half reach 5 % of it in runs of 20 to 50 steps.
constexpr double kLeast = 3 * kLeastLateness;

double mean(const std::vector<double>& values, std::size_t begin, std::size_t end) {
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += values[i];
  return end > begin ? sum / static_cast<double>(end - begin) : 0;
}

// What a rank does in a step, in ns.
using TimeOf = std::int64_t (*)(const Measures& measures, Cause cause);
std::int64_t of_partition(const Measures& measures, Cause cause) {
  return measures.partition[cause];
}
std::int64_t of_run_queue(const Measures& measures, Cause) {
  return measures.run_queue_ns.value_or(0);
}

std::optional<RankLateness> late_by(const StepTable& table, std::size_t rank, Cause cause,
                                    const RankLateness& judged, TimeOf of = of_partition) {
  const auto time_of = [&](std::size_t step, std::size_t one) {
    return of(table.cell(step, one).measures, cause);
  };
  const std::size_t steps = table.steps.size(), count = table.rank_count();
  const double step_ns = static_cast<double>(table.mean_step_ns);
  std::vector<double> excess;
  std::vector<std::int64_t> medians;
  std::size_t longer = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    std::vector<std::int64_t> others;
    for (std::size_t other = 0; other < count; ++other)
      if (other != rank) others.push_back(time_of(step, other));
    medians.push_back(lower_median(std::move(others)));
    const std::int64_t more = time_of(step, rank) - medians.back();
    excess.push_back(static_cast<double>(more));
    longer += more > 0 ? 1 : 0;
  }
  const double all = mean(excess, 0, steps);
  if (all < kLeast * step_ns || static_cast<double>(longer) < kConsistent * static_cast<double>(steps) ||
      std::min(mean(excess, 0, steps / 2), mean(excess, steps / 2, steps)) < kLeast / 2 * step_ns)
    return std::nullopt;

  if (const std::vector<std::vector<double>> alone{excess};
      !stands_out(excess, cautious_autocorrelation(alone), step_ns))
    return std::nullopt;
  const Blocks blocks = cut_into_blocks(steps, kBlocks);
  if (blocks.count < blocks_needed(count, kLatenessLevel)) return std::nullopt;
  std::vector<std::vector<double>> means;  // [block][rank]
  double squares = 0;
  for (std::size_t block = 0; block < blocks.count; ++block) {
    const std::size_t begin = blocks.begin(block), end = blocks.end(block, steps);
    std::vector<double>& row = means.emplace_back(count);
    for (std::size_t step = begin; step < end; ++step)
      for (std::size_t one = 0; one < count; ++one)
        row[one] += static_cast<double>(time_of(step, one)) / static_cast<double>(end - begin);
    const double apart = mean(excess, begin, end) - all;
    squares += apart * apart;
  }
  RankLateness late = judged;
  const double movement = std::sqrt(squares / static_cast<double>(blocks.count - 1));
  late.chance = chances_of_members(means)[rank];
  const double room = static_cast<double>(judged.mean_ns) + kErrors *
                                                                static_cast<double>(judged.movement_ns) /
                                                                std::sqrt(static_cast<double>(blocks.count));
  if (late.chance > kLatenessLevel || all <= movement || room < kExplains * all) return std::nullopt;
  late.is_late = true;
  late.mean_ns = late.cause_ns = std::llround(all);
  late.share = all / step_ns;
  late.movement_ns = std::llround(movement);
  late.cause = cause;
  late.others_ns = lower_median(std::move(medians));
  return late;
}

}  // namespace

std::optional<RankLateness> late_by_cause(const StepTable& table, std::size_t rank,
                                          const RankLateness& judged) {
  std::optional<RankLateness> worst;
  if (table.rank_count() < 2 || table.steps.size() < 2 || table.mean_step_ns <= 0) return worst;
  for (const Cause cause : kCauses) {
    const std::optional<RankLateness> late = late_by(table, rank, cause, judged);
    if (late && (!worst || late->cause_ns > worst->cause_ns)) worst = late;
  }
  return worst;
}

std::optional<RankLateness> late_by_waiting_for_core(const StepTable& table, std::size_t rank,
                                                     const RankLateness& judged) {
  if (table.rank_count() < 2 || table.steps.size() < 2 || table.mean_step_ns <= 0) return std::nullopt;
  for (const StepReport* const cell : table.cells)
    if (!cell->measures.run_queue_ns) return std::nullopt;
  return late_by(table, rank, Cause::compute, judged, of_run_queue);
}

}  // namespace lockstep::analyzer

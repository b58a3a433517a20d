#include "analyzer/lateness/late_ranks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/intervals/median.h"
#include "analyzer/lateness/clock_errors.h"
#include "analyzer/lateness/late_parts.h"
#include "analyzer/lateness/standing_out.h"
#include "analyzer/statistics/autocorrelation.h"
#include "analyzer/statistics/block_test.h"
#include "analyzer/statistics/median_deviation.h"
#include "analyzer/statistics/place_sums.h"
#include "analyzer/statistics/standard_error.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kBlocks = 12;
// However many ranks there are: in fewer blocks a drift is easily the same for all of them.
constexpr std::size_t kLeastBlocks = 5;
// So many (scaled) median deviations of single steps from its peers, a rank's lateness is none of its noise,
// however that hangs together.
constexpr double kPlain = 8;

double mean_late(const StepTable& table, std::size_t rank, std::size_t begin, std::size_t end) {
  double sum = 0;
  for (std::size_t step = begin; step < end; ++step) sum += static_cast<double>(table.late(step, rank));
  return end > begin ? sum / static_cast<double>(end - begin) : 0;
}

double standard_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  double mean = 0, squares = 0;
  for (const double value : values) mean += value;
  mean /= static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

// Late by half of its mean or more in nineteen of twenty steps: no drift that turns is so even.
bool is_even(const std::vector<double>& series, double mean) {
  constexpr std::size_t kLeast = 20;
  const auto late = static_cast<std::size_t>(
      std::count_if(series.begin(), series.end(), [&](double value) { return value >= mean / 2; }));
  return series.size() >= kLeast && mean > 0 && late * 20 >= series.size() * 19;
}

// Medians, so that a step unlike the others (the first one, above all) neither makes nor hides it.
bool is_plain(const std::vector<double>& series) {
  return lower_median(series) > kPlain * median_deviation(series);
}

// What the late rank does longer than the others, where one cause makes up half of it.
void explain(const StepTable& table, std::size_t rank, RankLateness& late) {
  const std::vector<LatePart> parts = parts_of_lateness(table, rank);
  if (parts.empty() || static_cast<double>(parts.front().ns) < kExplains * static_cast<double>(late.mean_ns))
    return;
  late.cause = parts.front().cause;
  late.cause_ns = parts.front().ns;
  late.others_ns = parts.front().others_ns;
}

// How many steps it would take until a rank that is late by kLatenessToTell in the mean stands out of this
// job's jitter, and is seen to be late by kLeastLateness, in 95 of 100 runs.
std::int64_t steps_to_tell(const std::vector<std::vector<double>>& series, double correlation,
                           std::int64_t step_ns) {
  constexpr double kPower = 1.64;  // of a normal deviate, 95 % lie below
  constexpr double kMost = 1e9;
  std::vector<double> deviations;
  deviations.reserve(series.size());
  for (const std::vector<double>& one : series) deviations.push_back(deviation_around_trend(one));
  const double deviation = lower_median(std::move(deviations)) / static_cast<double>(step_ns);
  const double errors =
      std::max((errors_wanted(deviation, series.front().size()) + kPower) * deviation / kLatenessToTell,
               kPower * deviation / (kLatenessToTell - kLeastLateness));
  const double steps = errors * errors / effective_count(1, correlation);
  return std::llround(std::min(kMost, std::ceil(std::max(steps, static_cast<double>(kBlocks)))));
}

// The table cut into blocks: each rank's mean in each of them.
struct Cut {
  std::vector<std::vector<double>> means;  // [block][rank]

  Cut(const StepTable& table, std::size_t wanted) {
    const Blocks blocks = cut_into_blocks(table.steps.size(), wanted);
    for (std::size_t block = 0; block < blocks.count; ++block) {
      std::vector<double>& row = means.emplace_back();
      for (std::size_t rank = 0; rank < table.rank_count(); ++rank)
        row.push_back(mean_late(table, rank, blocks.begin(block), blocks.end(block, table.steps.size())));
    }
  }
  std::vector<double> of(std::size_t rank) const {
    std::vector<double> own;
    for (const std::vector<double>& block : means) own.push_back(block[rank]);
    return own;
  }
};

std::vector<std::vector<double>> series_of_ranks(const StepTable& table) {
  std::vector<std::vector<double>> series(table.rank_count());
  for (std::size_t rank = 0; rank < table.rank_count(); ++rank)
    for (std::size_t step = 0; step < table.steps.size(); ++step)
      series[rank].push_back(static_cast<double>(table.late(step, rank)));
  return series;
}

}  // namespace

LatenessReport judge_lateness(const StepTable& table, const Report& report, double level) {
  LatenessReport result;
  const std::size_t steps = table.steps.size(), count = table.rank_count();
  result.steps = static_cast<std::int64_t>(steps);
  result.step_ns = table.mean_step_ns;
  // Where all ranks but one lack steps, the table holds nobody; with all of their steps they would be in it.
  const std::size_t judged = count < 2 && !report.steps.empty() ? report.ranks.size() : count;
  if (judged < 2) return result;
  // Of few steps no more than by the other ways to be late: there are no standard errors to go by.
  const std::size_t needed = std::max(kLeastBlocks, blocks_needed(judged, std::min(level, kLatenessLevel)));
  result.steps_needed = static_cast<std::int64_t>(needed);
  if (count < 2 || steps == 0 || table.mean_step_ns <= 0) return result;

  const std::vector<std::vector<double>> series = series_of_ranks(table);
  const double correlation = cautious_autocorrelation(series);
  const Cut cut(table, std::max(kBlocks, needed));
  const std::vector<double> chances = chances_of_members(cut.means);
  result.can_tell = cut.means.size() >= needed;
  double waiting = 0;
  for (const StepReport* cell : table.cells)
    waiting += static_cast<double>(cell->measures.partition[Cause::barrier_wait]);
  result.waiting_ns = std::llround(waiting / static_cast<double>(table.cells.size()));

  const double step_ns = static_cast<double>(table.mean_step_ns);
  const auto errors = clock_errors(report);
  for (std::size_t rank = 0; rank < count; ++rank) {
    RankLateness late;
    late.rank = table.ranks[rank];
    const double mean = mean_late(table, rank, 0, steps);
    late.mean_ns = std::llround(mean);
    late.share = mean / step_ns;
    late.movement_ns = std::llround(standard_deviation(cut.of(rank)));
    if (const auto error = errors.find(late.rank); error != errors.end()) late.clock_error_ns = error->second;
    late.chance = chances[rank];
    const double half =
        std::min(mean_late(table, rank, 0, steps / 2), mean_late(table, rank, steps / 2, steps));
    late.is_late = result.can_tell && late.chance <= level && late.share >= kLeastLateness &&
                   late.mean_ns > late.movement_ns && half >= kLeastLateness / 2 * step_ns &&
                   late.mean_ns > late.clock_error_ns &&
                   (is_plain(series[rank]) || is_even(series[rank], mean) ||
                    stands_out(series[rank], correlation, step_ns));
    if (late.is_late) explain(table, rank, late);
    result.ranks.push_back(late);
  }
  result.steps_to_tell = steps_to_tell(series, correlation, table.mean_step_ns);
  return result;
}

}  // namespace lockstep::analyzer

#include "analyzer/lateness/late_ranks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analyzer/intervals/median.h"
#include "analyzer/lateness/late_parts.h"
#include "analyzer/statistics/autocorrelation.h"
#include "analyzer/statistics/median_deviation.h"
#include "analyzer/statistics/place_sums.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kBlocks = 10;
// However many ranks there are: in fewer blocks a drift is easily the same for all of them.
constexpr std::size_t kLeastBlocks = 5;
// So many independent steps to a block, that neighbouring blocks have little to do with each other.
constexpr double kPerBlock = 1.5;
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

// Medians, so that a step unlike the others (the first one, above all) neither makes nor hides it.
bool is_plain(const std::vector<double>& series) {
  return lower_median(series) > kPlain * median_deviation(series);
}

// What the clocks leave open between a rank and the others that it is compared with.
std::int64_t clock_error(const Report& report, std::int32_t rank) {
  const RankReport* own = nullptr;
  for (const RankReport& one : report.ranks)
    if (one.rank == rank) own = &one;
  if (own == nullptr) return 0;
  std::vector<std::int64_t> errors;
  for (const RankReport& other : report.ranks) {
    if (&other == own) continue;
    errors.push_back(
        other.clock.domain == own->clock.domain ? 0 : other.clock.uncertainty_ns + own->clock.uncertainty_ns);
  }
  return errors.empty() ? 0 : lower_median(std::move(errors));
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

// How many steps it would take until a rank that is late by kLeastLateness stands out of this job's jitter,
// in 95 of 100 runs: its blocks' means then lie 2.6 of their standard deviations above the others', in each
// of ten.
std::int64_t steps_to_tell(const std::vector<RankLateness>& ranks, const Blocks& blocks,
                           std::int64_t step_ns) {
  constexpr double kDeviations = 2.6;
  std::vector<std::int64_t> movements;
  for (const RankLateness& rank : ranks) movements.push_back(rank.movement_ns);
  const double movement = static_cast<double>(lower_median(std::move(movements)));
  const double least = kLeastLateness * static_cast<double>(step_ns);
  const double times = kDeviations * movement / least;
  constexpr double kMost = 1e9;
  return std::llround(std::min(
      kMost, std::ceil(static_cast<double>(blocks.count * blocks.length) * std::max(times * times, 0.01))));
}

// The table cut into blocks: each rank's mean in each of them, and how often it is later than others.
struct Cut {
  Blocks blocks;
  std::vector<std::vector<double>> means;  // [block][rank]
  std::vector<std::int64_t> place_sums;    // by rank

  Cut(const StepTable& table, std::size_t wanted) : blocks(cut_into_blocks(table.steps.size(), wanted)) {
    for (std::size_t block = 0; block < blocks.count; ++block) {
      std::vector<double>& row = means.emplace_back();
      for (std::size_t rank = 0; rank < table.rank_count(); ++rank)
        row.push_back(mean_late(table, rank, blocks.begin(block), blocks.end(block, table.steps.size())));
    }
    place_sums = analyzer::place_sums(means);
  }
  double movement(std::size_t rank) const {
    std::vector<double> own;
    for (const std::vector<double>& block : means) own.push_back(block[rank]);
    return standard_deviation(own);
  }
};

std::vector<std::vector<double>> series_of_ranks(const StepTable& table) {
  std::vector<std::vector<double>> series(table.rank_count());
  for (std::size_t rank = 0; rank < table.rank_count(); ++rank)
    for (std::size_t step = 0; step < table.steps.size(); ++step)
      series[rank].push_back(static_cast<double>(table.late(step, rank)));
  return series;
}

// One standard error above what was seen, because too few independent steps accuse nobody and too many do.
double cautious_autocorrelation(const std::vector<std::vector<double>>& series) {
  const double seen = autocorrelation(series);
  const auto values = static_cast<double>((series.size() - 1) * series.front().size());
  return std::min(0.99, seen + std::sqrt((1 - seen * seen) / values));
}

}  // namespace

LatenessReport judge_lateness(const StepTable& table, const Report& report, double level) {
  LatenessReport result;
  const std::size_t steps = table.steps.size(), count = table.rank_count();
  result.steps = static_cast<std::int64_t>(steps);
  result.step_ns = table.mean_step_ns;
  if (count < 2) return result;
  const std::size_t needed = std::max(kLeastBlocks, blocks_needed(count, level));
  result.steps_needed = static_cast<std::int64_t>(needed);
  if (steps == 0 || table.mean_step_ns <= 0) return result;

  const std::vector<std::vector<double>> series = series_of_ranks(table);
  const double independent = effective_count(steps, cautious_autocorrelation(series)) / kPerBlock;
  const std::size_t most = std::max(kBlocks, needed);
  const Cut plain(table, most);
  const Cut careful(table, std::clamp<std::size_t>(static_cast<std::size_t>(independent), 1, most));
  result.can_tell = plain.blocks.count >= needed;
  double waiting = 0;
  for (const StepReport* cell : table.cells)
    waiting += static_cast<double>(cell->measures.partition[Cause::barrier_wait]);
  result.waiting_ns = std::llround(waiting / static_cast<double>(table.cells.size()));

  const double step_ns = static_cast<double>(table.mean_step_ns);
  std::map<std::pair<std::size_t, std::int64_t>, double> chances;  // many ranks share few
  for (std::size_t rank = 0; rank < count; ++rank) {
    RankLateness late;
    late.rank = table.ranks[rank];
    const double mean = mean_late(table, rank, 0, steps);
    late.mean_ns = std::llround(mean);
    late.share = mean / step_ns;
    const Cut& cut = is_plain(series[rank]) ? plain : careful;
    late.movement_ns = std::llround(cut.movement(rank));
    const auto [known, is_new] = chances.try_emplace({cut.blocks.count, cut.place_sums[rank]}, 0);
    if (is_new) known->second = chance_of_place_sum(count, cut.blocks.count, cut.place_sums[rank]);
    late.chance = std::min(1.0, known->second * static_cast<double>(count));
    const double half =
        std::min(mean_late(table, rank, 0, steps / 2), mean_late(table, rank, steps / 2, steps));
    late.is_late = cut.blocks.count >= needed && late.chance <= level && late.share >= kLeastLateness &&
                   late.mean_ns > late.movement_ns && half >= kLeastLateness / 2 * step_ns &&
                   late.mean_ns > clock_error(report, late.rank);
    if (late.is_late) explain(table, rank, late);
    result.ranks.push_back(late);
  }
  result.steps_to_tell = steps_to_tell(result.ranks, careful.blocks, table.mean_step_ns);
  return result;
}

}  // namespace lockstep::analyzer

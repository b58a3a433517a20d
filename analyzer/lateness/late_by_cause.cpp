#include "analyzer/lateness/late_by_cause.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "analyzer/intervals/median.h"
#include "analyzer/lateness/late_parts.h"
#include "analyzer/lateness/standing_out.h"
#include "analyzer/statistics/block_test.h"
#include "analyzer/statistics/place_sums.h"
#include "analyzer/statistics/standard_error.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kBlocks = 12;
constexpr double kConsistent = 0.8;  // of the steps
constexpr double kErrors = 2;        // standard errors that the lateness is given
// Of a step: healthy ranks whose steps vary by half reach 5 % of it in runs of 20 to 50 steps.
constexpr double kLeast = 3 * kLeastLateness;

double mean(const std::vector<double>& values, std::size_t begin, std::size_t end) {
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += values[i];
  return end > begin ? sum / static_cast<double>(end - begin) : 0;
}

}  // namespace

bool LateByCause::can_tell() const {
  return table_.rank_count() >= 2 && table_.steps.size() >= 2 && table_.mean_step_ns > 0;
}

const LateByCause::Times& LateByCause::times_of(Kind kind) {
  const auto [known, is_new] = times_.try_emplace(kind);
  if (!is_new) return known->second;
  const auto time_of = [kind](const Measures& measures) -> std::int64_t {
    switch (kind) {
      case Kind::data_wait:
        return measures.partition[Cause::data_wait];
      case Kind::host_bound:
        return measures.partition[Cause::host_bound];
      case Kind::copy:
        return measures.partition[Cause::copy];
      case Kind::waiting_for_core:
        return measures.run_queue_ns.value_or(0);
      case Kind::running:
        return measures.on_core_ns.value_or(0);
    }
    return 0;
  };
  Times& times = known->second;
  std::vector<std::int64_t> of_step(table_.rank_count());
  for (std::size_t step = 0; step < table_.steps.size(); ++step) {
    for (std::size_t rank = 0; rank < of_step.size(); ++rank)
      of_step[rank] = time_of(table_.cell(step, rank).measures);
    const std::vector<std::int64_t> of_others = lower_medians_of_others(of_step);
    times.own.insert(times.own.end(), of_step.begin(), of_step.end());
    times.of_others.insert(times.of_others.end(), of_others.begin(), of_others.end());
  }
  return times;
}

std::optional<RankLateness> LateByCause::late_by(Kind kind, std::size_t rank, const RankLateness& judged) {
  const Times& times = times_of(kind);
  const std::size_t steps = table_.steps.size(), count = table_.rank_count();
  const double step_ns = static_cast<double>(table_.mean_step_ns);
  std::vector<double> excess;
  std::vector<std::int64_t> medians;
  std::size_t longer = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    medians.push_back(times.of_others[step * count + rank]);
    const std::int64_t more = times.own[step * count + rank] - medians.back();
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
        row[one] += static_cast<double>(times.own[step * count + one]) / static_cast<double>(end - begin);
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
  late.cause = kind == Kind::data_wait    ? Cause::data_wait
               : kind == Kind::host_bound ? Cause::host_bound
               : kind == Kind::copy       ? Cause::copy
                                          : Cause::compute;
  late.others_ns = lower_median(std::move(medians));
  return late;
}

std::optional<RankLateness> LateByCause::find(std::size_t rank, const RankLateness& judged) {
  std::optional<RankLateness> worst;
  if (!can_tell()) return worst;
  for (const Kind kind : {Kind::data_wait, Kind::host_bound, Kind::copy}) {
    const std::optional<RankLateness> late = late_by(kind, rank, judged);
    if (late && (!worst || late->cause_ns > worst->cause_ns)) worst = late;
  }
  return worst;
}

std::optional<RankLateness> LateByCause::find_waiting_for_core(std::size_t rank, const RankLateness& judged) {
  if (!can_tell()) return std::nullopt;
  for (const StepReport* const cell : table_.cells)
    if (!cell->measures.run_queue_ns) return std::nullopt;
  return late_by(Kind::waiting_for_core, rank, judged);
}

std::optional<RankLateness> LateByCause::find_running(std::size_t rank, const RankLateness& judged) {
  constexpr std::int64_t kOfOthers = 4;  // a quarter
  if (!can_tell()) return std::nullopt;
  if (!running_known_)
    running_known_ = std::all_of(table_.cells.begin(), table_.cells.end(), [](const StepReport* cell) {
      return cell->measures.on_core_ns.has_value();
    });
  if (!*running_known_) return std::nullopt;
  std::optional<RankLateness> late = late_by(Kind::running, rank, judged);
  if (!late || kOfOthers * late->cause_ns < late->others_ns) return std::nullopt;
  // What it runs longer is computation, or none. Host-bound time moves about less, and is asked first.
  for (const Cause cause : {Cause::host_bound, Cause::compute}) {
    const LatePart part = time_beyond_others(table_, rank, cause);
    if (static_cast<double>(part.ns) < kExplains * static_cast<double>(late->cause_ns)) continue;
    late->cause = cause;
    late->cause_ns = std::min(late->cause_ns, part.ns);
    late->others_ns = part.others_ns;
    late->is_of_running = true;
    return late;
  }
  return std::nullopt;
}

}  // namespace lockstep::analyzer

#include "analyzer/metrics/theory.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/intervals/median.h"
#include "analyzer/model/operation.h"

namespace lockstep::analyzer {
namespace {

using Divisor = std::optional<std::int64_t> TrainingSetup::*;

// Counters in which a program tells what it holds, and the setup's members that say what it should be.
struct State {
  TheoryQuantity quantity;
  const char* counter;
  Divisor bytes, over;
};
constexpr State kStates[] = {
    {TheoryQuantity::parameters, "memory parameters", &TrainingSetup::parameter_bytes,
     &TrainingSetup::parameters_over},
    {TheoryQuantity::gradients, "memory gradients", &TrainingSetup::gradient_bytes,
     &TrainingSetup::gradients_over},
    {TheoryQuantity::optimizer_state, "memory optimizer", &TrainingSetup::optimizer_bytes,
     &TrainingSetup::optimizer_over},
};

double real(std::int64_t number) {
  return static_cast<double>(number);
}

// The rank that holds most.
void add_state(const Job& job, const Report& report, const State& state, std::vector<TheoryReport>& rows) {
  std::map<std::int32_t, double> held;
  for (const CounterReport& counter : report.counters)
    if (counter.name == state.counter) held[counter.rank] = counter.max;
  std::optional<TheoryReport> most;
  for (const RankTrace& rank : job.ranks) {
    if (!rank.training) continue;
    const TrainingSetup& setup = *rank.training;
    const std::optional<std::int64_t>& bytes = setup.*(state.bytes);
    if (!setup.parameters || !bytes) continue;
    const std::int64_t over = (setup.*(state.over)).value_or(1);
    TheoryReport row{state.quantity, rank.rank, std::nullopt,
                     real(*setup.parameters) * real(*bytes) / real(over), PartOfModel{*bytes, over}};
    if (const auto found = held.find(rank.rank); found != held.end()) row.measured = found->second;
    const auto size = [](const TheoryReport& one) {
      return std::pair(one.measured.has_value(), one.measured.value_or(one.theory));
    };
    if (!most || size(row) > size(*most)) most = std::move(row);
  }
  if (most) rows.push_back(std::move(*most));
}

struct Volume {
  double bytes = 0;  // that a rank sends in a step
  TheoryFormula formula;
};

// What data parallelism sends in rings. Reduced whole, as all-reduce; or, where anything is divided over s
// ranks, by reduce-scatter and all-gather within them, and what is then left by all-reduce among the n/s
// copies.
std::optional<Volume> volume_of(const TrainingSetup& setup) {
  if (!setup.parameters || !setup.parameter_bytes || !setup.gradient_bytes || !setup.data_parallel)
    return std::nullopt;
  const std::int64_t n = *setup.data_parallel;
  const std::int64_t s = std::max({setup.parameters_over.value_or(1), setup.gradients_over.value_or(1),
                                   setup.optimizer_over.value_or(1)});
  if (s > n) return std::nullopt;
  const std::int64_t microbatches = setup.accumulation.value_or(1);
  const auto divided = [](const std::optional<std::int64_t>& over) { return over.value_or(1) > 1; };
  const std::int64_t reductions = setup.reductions.value_or(divided(setup.gradients_over) ? microbatches : 1);
  const std::int64_t gathers = setup.gathers.value_or(divided(setup.parameters_over) ? 2 * microbatches
                                                      : s > 1                        ? 1
                                                                                     : 0);
  const double whole = real(*setup.parameters);
  const std::int64_t reduced = reductions * *setup.gradient_bytes,
                     gathered = gathers * *setup.parameter_bytes;
  const auto ring = [](std::int64_t ranks) { return real(ranks - 1) / real(ranks); };
  if (s == 1) return Volume{2 * ring(n) * real(reduced) * whole, SentByAllReduce{reduced}};
  Volume volume{ring(s) * real(reduced + gathered) * whole, SentWhereShared{reduced, gathered, std::nullopt}};
  if (s == n) return volume;
  volume.bytes += 2 * real(n - s) / real(n) * real(reduced) * whole / real(s);
  volume.formula = SentWhereShared{reduced, gathered, s};
  return volume;
}

// Over all groups but for messages; absent where a size is not known, or the ring's share of it.
std::optional<double> sent_per_step_and_rank(const Report& report) {
  double sum = 0;
  bool any = false;
  for (const GroupReport& group : report.groups) {
    for (const GroupOperation& operation : group.operations) {
      if (is_point_to_point(operation.operation) || operation.operation == Operation::barrier) continue;
      if (!operation.wire_bytes_per_step_and_rank) {
        if (!operation.bytes_per_step_and_rank && operation.bytes) continue;  // outside of steps
        return std::nullopt;
      }
      // Of a group's ranks; the others send nothing there.
      sum += *operation.wire_bytes_per_step_and_rank * real(static_cast<std::int64_t>(group.ranks.size()));
      any = true;
    }
  }
  if (!any || report.world_size == 0) return std::nullopt;
  return sum / real(report.world_size);
}

void add_volume(const Job& job, const Report& report, std::vector<TheoryReport>& rows) {
  double sum = 0;
  TheoryFormula formula;
  std::int64_t ranks = 0;
  for (const RankTrace& rank : job.ranks) {
    if (!rank.training) continue;
    const std::optional<Volume> volume = volume_of(*rank.training);
    if (!volume) return;
    sum += volume->bytes;
    formula = volume->formula;
    ++ranks;
  }
  if (ranks == 0 || sum == 0) return;
  const bool everyone = report.ranks_missing.empty();
  rows.push_back({TheoryQuantity::sent_by_collectives, std::nullopt,
                  everyone ? sent_per_step_and_rank(report) : std::nullopt, sum / real(ranks), formula});
}

// How many microbatches went forward, Σ over ranks; the median over the report's steps. Absent where passes
// or microbatches are not known, or a rank is missing.
std::optional<std::int64_t> microbatches_per_step(const Job& job, const Report& report) {
  if (!report.ranks_missing.empty()) return std::nullopt;
  std::map<std::int64_t, std::int64_t> per_step;
  for (const StepReport& step : report.steps) per_step.emplace(step.step, 0);
  for (const RankTrace& rank : job.ranks) {
    std::set<std::pair<std::int64_t, std::int32_t>> forward;  // step, microbatch
    for (const Activity& activity : rank.activities) {
      if (activity.step == kNone || activity.compute == kNone) continue;
      const Computation& computation = rank.computations[activity.compute];
      if (computation.pass != Pass::forward || computation.microbatch < 0) continue;
      const std::int64_t step = rank.steps[activity.step].number;
      if (per_step.contains(step)) forward.emplace(step, computation.microbatch);
    }
    for (const auto& [step, microbatch] : forward) ++per_step[step];
  }
  std::vector<std::int64_t> counts;
  counts.reserve(per_step.size());
  for (const auto& [step, count] : per_step) counts.push_back(count);
  if (counts.empty()) return std::nullopt;
  const std::int64_t median = lower_median(std::move(counts));
  return median > 0 ? std::optional(median) : std::nullopt;
}

void add_batch(const Job& job, const Report& report, std::vector<TheoryReport>& rows) {
  const auto told = std::find_if(job.ranks.begin(), job.ranks.end(), [](const RankTrace& rank) {
    return rank.training && rank.training->samples && rank.training->data_parallel;
  });
  if (told == job.ranks.end()) return;
  const TrainingSetup& setup = *told->training;
  const std::int64_t accumulation = setup.accumulation.value_or(1);
  TheoryReport row{TheoryQuantity::effective_batch, std::nullopt, std::nullopt,
                   real(*setup.samples) * real(*setup.data_parallel) * real(accumulation),
                   SamplesOfStep{*setup.samples, *setup.data_parallel, accumulation}};
  if (const auto microbatches = microbatches_per_step(job, report); microbatches && job.world_size > 0) {
    // Ranks that share a model see the same samples.
    const double copies = real(job.world_size) / real(*setup.data_parallel);
    row.measured = real(*setup.samples) * real(*microbatches) / copies;
  }
  rows.push_back(std::move(row));
}

}  // namespace

std::vector<TheoryReport> compare_with_theory(const Job& job, const Report& report) {
  std::vector<TheoryReport> rows;
  for (const State& state : kStates) add_state(job, report, state, rows);
  add_volume(job, report, rows);
  add_batch(job, report, rows);
  return rows;
}

}  // namespace lockstep::analyzer

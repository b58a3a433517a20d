#include "analyzer/interruptions.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/metrics/waiting_times.h"
#include "analyzer/phases_of_any.h"
#include "analyzer/steady_steps.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

// By rank: when it is in the phase; of that, outside of operations with others; and how much of it counts.
struct InPhase {
  std::vector<IntervalSet> all, own, counted;
};

// Of a rank that is in some phase; else nothing is looked at.
struct Waiting {
  IntervalSet communicating, waiting;
};
std::vector<Waiting> waiting_of(const Job& job, std::span<const Phases> phases, const JobWaits& waits) {
  std::vector<Waiting> of_ranks(job.ranks.size());
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
    if (std::ranges::all_of(kInterrupting, [&](Phase phase) { return phases[rank][phase].empty(); }))
      continue;
    of_ranks[rank] = {communicating_alone(job.ranks[rank]), waiting_alone(job.ranks[rank], waits[rank])};
  }
  return of_ranks;
}

// `of_any`: nothing where only one kind of phase is known.
InPhase in_phase(std::span<const Phases> phases, Phase phase, const std::vector<Waiting>& waiting,
                 const std::optional<PhasesOfAny>& of_any) {
  InPhase in;
  for (std::size_t rank = 0; rank < phases.size(); ++rank) {
    in.all.push_back(phases[rank][phase]);
    in.own.push_back(subtract(phases[rank][phase], waiting[rank].communicating));
    in.counted.push_back(subtract(phases[rank][phase], waiting[rank].waiting));
    if (of_any)
      in.counted.back() =
          intersect(in.counted.back(), of_any->counted(rank, static_cast<std::size_t>(phase)));
  }
  return in;
}

// Of stretches that are known by their steps. Returns what each rank does in them outside of operations.
std::vector<std::int64_t> measure(const Job& job, std::span<const RankWindows> windows, const InPhase& in,
                                  std::vector<PhaseStretch>& stretches) {
  std::vector<std::int64_t> own_ns(windows.size());
  std::vector<AloneRank> alone(stretches.size());
  for (std::size_t rank = 0; rank < windows.size(); ++rank) {
    std::vector<std::int64_t> all(stretches.size()), own(stretches.size()), counted(stretches.size());
    for (const StepWindow& step : windows[rank].steps) {
      const auto at =
          std::lower_bound(stretches.begin(), stretches.end(), step.number,
                           [](const PhaseStretch& one, std::int64_t number) { return one.last < number; });
      if (at == stretches.end() || at->first > step.number) continue;
      const auto i = static_cast<std::size_t>(at - stretches.begin());
      const auto [begin, end] = step.window;
      all[i] = saturating_add(all[i], in.all[rank].measure_within(begin, end));
      own[i] = saturating_add(own[i], in.own[rank].measure_within(begin, end));
      counted[i] = saturating_add(counted[i], in.counted[rank].measure_within(begin, end));
    }
    for (const std::int64_t ns : own) own_ns[rank] = saturating_add(own_ns[rank], ns);
    const std::int32_t number = job.ranks[rank].rank;
    for (std::size_t i = 0; i < stretches.size(); ++i) {
      if (counted[i] > stretches[i].ns) {
        stretches[i].ns = counted[i];
        stretches[i].own_ns = own[i];
        stretches[i].longest_on = number;
      }
      alone[i].add(all[i], own[i], number);
    }
  }
  for (std::size_t i = 0; i < stretches.size(); ++i)
    if (alone[i].alone() == stretches[i].longest_on) stretches[i].rank = alone[i].alone();
  // A step beside one: what was done lies in the other.
  std::erase_if(stretches, [](const PhaseStretch& stretch) { return stretch.ns == 0; });
  return own_ns;
}

const PhaseStretch* longest_of(const std::vector<PhaseStretch>& stretches) {
  const auto longest = std::ranges::max_element(stretches, {}, &PhaseStretch::ns);
  return longest == stretches.end() ? nullptr : &*longest;
}

}  // namespace

Interruptions measure_interruptions(const Job& job, std::span<const RankWindows> windows,
                                    std::span<const Phases> phases, const JobWaits& waits,
                                    std::span<const StepLength> steps, std::int64_t first_steady,
                                    const StepSelection& selection) {
  Interruptions result;
  result.whole_run = !selection.any();
  const auto kinds = std::ranges::count_if(kInterrupting, [&](Phase phase) {
    return std::ranges::any_of(phases, [&](const Phases& of_rank) { return !of_rank[phase].empty(); });
  });
  std::optional<PhasesOfAny> of_any;
  if (kinds > 1) of_any.emplace(job, phases);
  const std::vector<Waiting> waiting = waiting_of(job, phases, waits);
  for (const Phase phase : kInterrupting) {
    const StepsWith with = steps_with(steps, phase);
    PhaseInSteps& in_steps = result.of[static_cast<std::size_t>(phase)];
    in_steps.is_usual = with.is_usual;
    std::vector<PhaseStretch> each;
    bool goes_on = false;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::int64_t number = steps[i].step;
      if (!selection.holds(number) || (phase != Phase::evaluation && number < first_steady)) continue;
      ++in_steps.of_steps;
      if (with.holds[i]) {
        ++in_steps.steps;
        each.push_back({number, number});
        if (goes_on) {
          in_steps.stretches.back().last = number;
          ++in_steps.stretches.back().steps;
        } else {
          in_steps.stretches.push_back({number, number});
        }
      }
      goes_on = with.holds[i];
    }
    if (each.empty()) continue;
    const InPhase in = in_phase(phases, phase, waiting, of_any);
    in_steps.own_ns = measure(job, windows, in, in_steps.stretches);
    if (in_steps.is_usual) measure(job, windows, in, each);
    const PhaseStretch* longest = longest_of(in_steps.is_usual ? each : in_steps.stretches);
    if (longest != nullptr) in_steps.longest = *longest;
  }
  return result;
}

}  // namespace lockstep::analyzer

#include "analyzer/interruptions.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/metrics/scheduling.h"
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

// What the rank's training threads wait for a core in these times, as far as somebody looked.
std::int64_t core_waits_in(const RankTrace& rank, const IntervalSet& times, Interval window) {
  std::int64_t ns = 0;
  const std::vector<Interval>& all = times.intervals();
  for (std::size_t i = times.first_ending_after(window.begin); i < all.size() && all[i].begin < window.end;
       ++i) {
    const Interval part{std::max(all[i].begin, window.begin), std::min(all[i].end, window.end)};
    if (const auto within = scheduling_within(rank.scheduling, part)) ns += within->waited_ns;
  }
  return ns;
}

// What one rank does of the phase in one stretch.
struct OfStretch {
  std::int64_t all = 0, own = 0, core_waits = 0, counted = 0;
};
std::vector<OfStretch> of_stretches(const RankTrace& rank, const RankWindows& windows, const InPhase& in,
                                    std::size_t place, const std::vector<PhaseStretch>& stretches) {
  std::vector<OfStretch> of(stretches.size());
  for (const StepWindow& step : windows.steps) {
    const auto at =
        std::lower_bound(stretches.begin(), stretches.end(), step.number,
                         [](const PhaseStretch& one, std::int64_t number) { return one.last < number; });
    if (at == stretches.end() || at->first > step.number) continue;
    OfStretch& sum = of[static_cast<std::size_t>(at - stretches.begin())];
    const auto [begin, end] = step.window;
    sum.all = saturating_add(sum.all, in.all[place].measure_within(begin, end));
    sum.own = saturating_add(sum.own, in.own[place].measure_within(begin, end));
    sum.core_waits = saturating_add(sum.core_waits, core_waits_in(rank, in.own[place], step.window));
    sum.counted = saturating_add(sum.counted, in.counted[place].measure_within(begin, end));
  }
  return of;
}

// Of stretches that are known by their steps. Returns what each rank does in them by itself.
std::vector<OwnOfPhase> measure(const Job& job, std::span<const RankWindows> windows, const InPhase& in,
                                std::vector<PhaseStretch>& stretches) {
  std::vector<OwnOfPhase> own(windows.size());
  std::vector<AloneRank> alone(stretches.size());
  std::vector<LongestRank> longest(stretches.size());  // by place in Job::ranks
  for (std::size_t rank = 0; rank < windows.size(); ++rank) {
    const std::vector<OfStretch> of = of_stretches(job.ranks[rank], windows[rank], in, rank, stretches);
    const std::int32_t number = job.ranks[rank].rank;
    for (std::size_t i = 0; i < stretches.size(); ++i) {
      const std::int64_t on_cores = of[i].own - of[i].core_waits;
      own[rank].ns = saturating_add(own[rank].ns, on_cores);
      own[rank].core_wait_ns = saturating_add(own[rank].core_wait_ns, of[i].core_waits);
      longest[i].add(on_cores, static_cast<std::int32_t>(rank));
      if (of[i].counted > stretches[i].ns) {
        stretches[i].ns = of[i].counted;
        stretches[i].own_ns = of[i].own;
        stretches[i].longest_on = number;
      }
      alone[i].add(of[i].all, of[i].own, number);
    }
  }
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    if (alone[i].alone() == stretches[i].longest_on) stretches[i].rank = alone[i].alone();
    const std::optional<std::int32_t> rank = longest[i].longest();
    if (rank && stretches[i].ns > 0) ++own[static_cast<std::size_t>(*rank)].longest_at;
  }
  // A step beside one: what was done lies in the other.
  std::erase_if(stretches, [](const PhaseStretch& stretch) { return stretch.ns == 0; });
  return own;
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
    in_steps.own = measure(job, windows, in, in_steps.stretches);
    if (in_steps.is_usual) in_steps.own = measure(job, windows, in, each);
    const std::vector<PhaseStretch>& places = in_steps.is_usual ? each : in_steps.stretches;
    in_steps.places = std::ssize(places);
    const PhaseStretch* longest = longest_of(places);
    if (longest != nullptr) in_steps.longest = *longest;
  }
  return result;
}

}  // namespace lockstep::analyzer

#include "analyzer/phases_of_any.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "analyzer/metrics/windows.h"

namespace lockstep::analyzer {
namespace {

using Sets = std::array<IntervalSet, kPhaseCount>;

bool is_together(const std::vector<std::size_t>& parts) {
  return std::all_of(parts.begin(), parts.end(), [&](std::size_t part) { return part == parts.front(); });
}

// Which part of the job each rank is in: ranks of a group that one of them has operations of in half of its
// steps are in the same. All are where a group's ranks are not known, or there are no steps.
std::vector<std::size_t> parts_of(const Job& job) {
  std::map<std::int32_t, std::size_t> index_of;
  for (std::size_t i = 0; i < job.ranks.size(); ++i) index_of[job.ranks[i].rank] = i;
  std::vector<std::size_t> parts(job.ranks.size());
  std::iota(parts.begin(), parts.end(), std::size_t{0});
  const auto part_of = [&parts](std::size_t rank) {
    while (parts[rank] != rank) rank = parts[rank] = parts[parts[rank]];
    return rank;
  };
  std::vector<std::size_t> one(job.ranks.size());
  // Lists of ranks, which a group's members share: each is gone through once, whoever of them comes first.
  std::set<const std::int32_t*> joined;
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const RankTrace& rank = job.ranks[i];
    if (rank.steps.empty()) return one;
    struct Met {
      std::uint32_t last = kNone;  // step; operations of a group come in their order
      std::size_t steps = 0;
    };
    std::map<std::uint32_t, Met> met;
    for (const Communication& operation : rank.communications) {
      const std::uint32_t step = launching_step(rank, rank.activities[operation.activity]);
      if (step == kNone) continue;
      if (operation.group == kNone || job.groups[operation.group].ranks.empty()) return one;
      Met& of_group = met[operation.group];
      of_group.steps += std::exchange(of_group.last, step) == step ? 0 : 1;
    }
    for (const auto& [group, of_group] : met) {
      const auto& members = job.groups[group].ranks;
      if (of_group.steps * 2 < rank.steps.size() || !joined.insert(&*members.begin()).second) continue;
      for (const std::int32_t member : members)
        if (const auto found = index_of.find(member); found != index_of.end())
          parts[part_of(found->second)] = part_of(i);
    }
  }
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = part_of(i);
  return parts;
}

// Of the ranks for which `counts`.
template <class Counts>
Sets unite_phases(std::span<const Phases> phases, Counts counts) {
  Sets sets;
  for (std::size_t phase = 0; phase < kPhaseCount; ++phase) {
    std::vector<Interval> intervals;
    for (std::size_t rank = 0; rank < phases.size(); ++rank)
      if (counts(rank))
        for (const Interval& interval : phases[rank].of[phase].intervals()) intervals.push_back(interval);
    sets[phase] = IntervalSet::from(std::move(intervals));
  }
  return sets;
}

// When the rank is in operations with ranks of other parts than its own.
IntervalSet among_others(const Job& job, const RankTrace& rank, const std::set<std::int32_t>& part) {
  std::map<std::uint32_t, bool> within;  // by group: its members are all in the part
  std::vector<Interval> times;
  for (const Communication& operation : rank.communications) {
    const auto [known, is_new] = within.try_emplace(operation.group, false);
    if (is_new && operation.group != kNone && !job.groups[operation.group].ranks.empty())
      known->second = std::ranges::all_of(job.groups[operation.group].ranks,
                                          [&](std::int32_t member) { return part.contains(member); });
    if (known->second) continue;
    const Activity& activity = rank.activities[operation.activity];
    times.push_back({activity.begin, activity.end});
  }
  return IntervalSet::from(std::move(times));
}

}  // namespace

PhasesOfAny::PhasesOfAny(const Job& job, std::span<const Phases> phases) : set_of_rank_(phases.size()) {
  const bool related = std::all_of(job.ranks.begin(), job.ranks.end(),
                                   [](const RankTrace& rank) { return rank.clock.related; });
  const std::vector<std::size_t> parts = related ? parts_of(job) : std::vector<std::size_t>{};
  const Sets all = unite_phases(phases, [](std::size_t) { return true; });
  if (related && is_together(parts)) {
    sets_.push_back(all);
    count();
    return;
  }
  struct Part {
    std::set<std::int32_t> ranks;
    Sets phases;
  };
  std::map<std::size_t, Part> by_part;
  for (std::size_t rank = 0; rank < parts.size(); ++rank)
    by_part[parts[rank]].ranks.insert(job.ranks[rank].rank);
  for (auto& entry : by_part) {
    const std::size_t part = entry.first;  // a copy: Clang before 16 captures no structured binding
    entry.second.phases = unite_phases(phases, [&](std::size_t rank) { return parts[rank] == part; });
  }
  for (std::size_t rank = 0; rank < phases.size(); ++rank) {
    set_of_rank_[rank] = sets_.size();
    sets_.emplace_back(phases[rank].of);
    if (!related) continue;
    const Part& own = by_part.at(parts[rank]);
    const IntervalSet meanwhile = among_others(job, job.ranks[rank], own.ranks);
    for (std::size_t phase = 0; phase < kPhaseCount; ++phase)
      sets_.back()[phase] = unite(own.phases[phase], intersect(all[phase], meanwhile));
  }
  count();
}

void PhasesOfAny::count() {
  counted_ = sets_;
  for (Sets& sets : counted_) {
    IntervalSet before;
    for (const Phase phase : kInterrupting) {
      IntervalSet& own = sets[static_cast<std::size_t>(phase)];
      IntervalSet all = unite(before, own);
      own = subtract(own, before);
      before = std::move(all);
    }
  }
}

}  // namespace lockstep::analyzer

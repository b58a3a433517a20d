#include "analyzer/metrics/pipeline_regions.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace lockstep::analyzer {
namespace {

using Step = std::optional<std::int64_t>;

constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

// Of one rank in one step.
struct Passes {
  Nanoseconds first_forward = kNever;
  Nanoseconds last_backward = kUnknownTime;
};
using PassesOfSteps = std::map<Step, Passes>;

PassesOfSteps passes_of(const RankTrace& rank) {
  PassesOfSteps steps;
  for (const Activity& activity : rank.activities) {
    const Pass pass = computation_of(rank, activity).pass;
    if (pass != Pass::forward && pass != Pass::backward) continue;
    Passes& passes = steps[step_number(rank, activity)];
    if (pass == Pass::forward) {
      passes.first_forward = std::min(passes.first_forward, activity.begin);
    } else {
      passes.last_backward = std::max(passes.last_backward, activity.end);
    }
  }
  return steps;
}

class Finder {
 public:
  Finder(const Job& job, const Matching& matching) : job_(job), matching_(matching) {}

  std::vector<PipelineRegion> run() {
    find_messages();
    for (const auto& [group, of_steps] : messages_) find_regions(group, of_steps);
    return std::move(regions_);
  }

 private:
  void find_messages() {
    for (const Match& match : matching_.matches) {
      if (!match.point_to_point || !matching_.groups[match.group].pipeline) continue;
      std::map<Step, Interval>& of_steps = messages_[match.group];
      for (const MatchRecord record : matching_.records_of(match)) {
        const Activity& activity = activity_of(job_, record);
        const auto [entry, fresh] = of_steps.try_emplace(step_number(job_.ranks[record.rank], activity),
                                                         Interval{activity.begin, activity.end});
        if (fresh) continue;
        entry->second.begin = std::min(entry->second.begin, activity.begin);
        entry->second.end = std::max(entry->second.end, activity.end);
      }
    }
  }

  const PassesOfSteps& passes(std::size_t rank) {
    const auto [entry, fresh] = passes_.try_emplace(rank);
    if (fresh) entry->second = passes_of(job_.ranks[rank]);
    return entry->second;
  }

  // From the first forward start to the last backward end; nothing where a member has neither in this step.
  std::optional<Interval> region_of_passes(const std::vector<std::size_t>& members, Step step) {
    Passes all;
    for (const std::size_t rank : members) {
      const PassesOfSteps& steps = passes(rank);
      const auto found = steps.find(step);
      if (found == steps.end()) return std::nullopt;
      all.first_forward = std::min(all.first_forward, found->second.first_forward);
      all.last_backward = std::max(all.last_backward, found->second.last_backward);
    }
    if (all.first_forward == kNever || all.last_backward <= all.first_forward) return std::nullopt;
    return Interval{all.first_forward, all.last_backward};
  }

  void find_regions(std::uint32_t group, const std::map<Step, Interval>& messages) {
    const std::vector<std::size_t> members = present_members(job_, matching_.groups[group]);
    const bool has_steps = std::any_of(members.begin(), members.end(),
                                       [&](std::size_t rank) { return !job_.ranks[rank].steps.empty(); });
    std::set<Step> steps;
    for (const auto& [step, interval] : messages) steps.insert(step);
    for (const std::size_t rank : members)
      for (const auto& [step, of_step] : passes(rank)) steps.insert(step);
    for (const Step& step : steps) {
      if (has_steps && !step) continue;
      if (const std::optional<Interval> region = region_of_passes(members, step)) {
        regions_.push_back({group, step, *region, true});
      } else if (const auto found = messages.find(step);
                 found != messages.end() && found->second.begin < found->second.end) {
        regions_.push_back({group, step, found->second, false});
      }
    }
  }

  const Job& job_;
  const Matching& matching_;
  std::map<std::uint32_t, std::map<Step, Interval>> messages_;  // by group: first to last message
  std::map<std::size_t, PassesOfSteps> passes_;                 // by rank index, as far as asked for
  std::vector<PipelineRegion> regions_;
};

}  // namespace

std::optional<std::int64_t> step_number(const RankTrace& rank, const Activity& activity) {
  const std::uint32_t step = launching_step(rank, activity);
  if (step == kNone) return std::nullopt;
  return rank.steps[step].number;
}

Computation computation_of(const RankTrace& rank, const Activity& activity) {
  return activity.compute == kNone ? Computation{} : rank.computations[activity.compute];
}

std::vector<std::size_t> present_members(const Job& job, const MatchGroup& group) {
  std::vector<std::size_t> members;
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
    if (std::binary_search(group.ranks.begin(), group.ranks.end(), job.ranks[rank].rank))
      members.push_back(rank);
  }
  return members;
}

std::vector<PipelineRegion> find_pipeline_regions(const Job& job, const Matching& matching) {
  return Finder(job, matching).run();
}

std::vector<IntervalSet> regions_of_ranks(const Job& job, const Matching& matching,
                                          const std::vector<PipelineRegion>& regions) {
  std::vector<std::vector<Interval>> of_rank(job.ranks.size());
  for (const PipelineRegion& region : regions) {
    for (const std::size_t rank : present_members(job, matching.groups[region.group]))
      of_rank[rank].push_back(region.interval);
  }
  std::vector<IntervalSet> result;
  for (std::vector<Interval>& intervals : of_rank) result.push_back(IntervalSet::from(std::move(intervals)));
  return result;
}

}  // namespace lockstep::analyzer

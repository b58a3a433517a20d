#include "analyzer/metrics/pipeline_regions.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analyzer/metrics/pipeline_message_regions.h"
#include "analyzer/model/operation.h"
#include "analyzer/model/stopped.h"

namespace lockstep::analyzer {
namespace {

using Step = std::optional<std::int64_t>;

constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

// Of one rank in one step.
struct Passes {
  Nanoseconds first_forward = kNever;
  Nanoseconds last_backward = kUnknownTime;
};
// A group's messages in one step.
struct Messages {
  Interval from_first_to_last;
  std::map<std::uint32_t, std::vector<std::uint32_t>> of_rank;  // RankTrace::communications, by rank index
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
  Finder(const Job& job, const Matching& matching, const std::stop_token& stop)
      : job_(job), matching_(matching), stop_(stop) {}

  std::vector<PipelineRegion> run() {
    find_messages();
    for (const auto& [group, of_steps] : messages_) find_regions(group, of_steps);
    return std::move(regions_);
  }

 private:
  // All of them, also those without a partner and those of rejected matches.
  void find_messages() {
    for (std::uint32_t index = 0; index < job_.ranks.size(); ++index) {
      throw_if_stopped(stop_);
      const RankTrace& rank = job_.ranks[index];
      for (std::uint32_t number = 0; number < rank.communications.size(); ++number) {
        const Communication& communication = rank.communications[number];
        if (!is_point_to_point(communication.operation)) continue;
        const std::uint32_t group = matching_.groups_of_records.find(rank.rank, communication);
        if (!matching_.groups[group].pipeline) continue;
        const Activity& activity = rank.activities[communication.activity];
        Messages& messages = messages_[group][step_number(rank, activity)];
        Interval& all = messages.from_first_to_last;
        const bool fresh = messages.of_rank.empty();
        all.begin = fresh ? activity.begin : std::min(all.begin, activity.begin);
        all.end = fresh ? activity.end : std::max(all.end, activity.end);
        messages.of_rank[index].push_back(number);
      }
    }
  }

  const PassesOfSteps& passes(std::size_t rank) {
    const auto [entry, fresh] = passes_.try_emplace(rank);
    if (fresh) {
      throw_if_stopped(stop_);
      entry->second = passes_of(job_.ranks[rank]);
    }
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

  // The messages of stages lie between passes: the first forward of all is before them, the last backward
  // behind.
  Interval region_of_messages(const MatchGroup& group, const Messages& messages, Step step) const {
    Interval region = messages.from_first_to_last;
    if (!group.stage_chain) return region;
    for (const auto& [rank, communications] : messages.of_rank) {
      const Interval around = passes_around_messages(job_.ranks[rank], communications, step);
      region.begin = std::min(region.begin, around.begin);
      region.end = std::max(region.end, around.end);
    }
    return region;
  }

  // Whether all ranks have ended the step.
  bool is_whole(const std::vector<std::size_t>& members, Step step) const {
    return std::all_of(members.begin(), members.end(), [&](std::size_t rank) {
      const std::vector<StepMark>& marks = job_.ranks[rank].steps;
      return std::any_of(marks.begin(), marks.end(),
                         [&](const StepMark& mark) { return step && mark.number == *step; });
    });
  }

  void find_regions(std::uint32_t group, const std::map<Step, Messages>& messages) {
    const std::vector<std::size_t> members = present_members(job_, matching_.groups[group]);
    const bool has_steps = std::any_of(members.begin(), members.end(),
                                       [&](std::size_t rank) { return !job_.ranks[rank].steps.empty(); });
    std::set<Step> steps;
    for (const auto& [step, of_step] : messages) steps.insert(step);
    for (const std::size_t rank : members)
      for (const auto& [step, of_step] : passes(rank)) steps.insert(step);
    const bool passes_known = std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
      return (!has_steps || step) && region_of_passes(members, step).has_value();
    });
    for (const Step& step : steps) {
      throw_if_stopped(stop_);
      if (has_steps && !step) continue;
      if (const std::optional<Interval> region = region_of_passes(members, step)) {
        regions_.push_back({group, step, *region, true});
      } else if (const auto found = messages.find(step); found != messages.end()) {
        // The step in which a job hung or was ended: others say more of their passes than who did not get to
        // its end.
        if (passes_known && !is_whole(members, step)) continue;
        const Interval interval = region_of_messages(matching_.groups[group], found->second, step);
        if (interval.begin < interval.end) regions_.push_back({group, step, interval, false});
      }
    }
  }

  const Job& job_;
  const Matching& matching_;
  const std::stop_token& stop_;
  std::map<std::uint32_t, std::map<Step, Messages>> messages_;  // by group
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

std::vector<PipelineRegion> find_pipeline_regions(const Job& job, const Matching& matching,
                                                  const std::stop_token& stop) {
  return Finder(job, matching, stop).run();
}

std::vector<IntervalSet> regions_of_ranks(const Job& job, const Matching& matching,
                                          const std::vector<PipelineRegion>& regions) {
  std::vector<std::vector<Interval>> of_rank(job.ranks.size());
  for (const PipelineRegion& region : regions) {
    for (const std::size_t rank : present_members(job, matching.groups[region.group]))
      of_rank[rank].push_back(region.interval);
  }
  std::vector<IntervalSet> result;
  result.reserve(of_rank.size());
  for (std::vector<Interval>& intervals : of_rank) result.push_back(IntervalSet::from(std::move(intervals)));
  return result;
}

}  // namespace lockstep::analyzer

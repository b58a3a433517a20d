#include "analyzer/diagnose/shown_by_others.h"

#include <algorithm>
#include <vector>

#include "analyzer/diagnose/job_endings.h"
#include "analyzer/match/ended_well.h"
#include "analyzer/match/match.h"

namespace lockstep::analyzer {
namespace {

bool holds(const RankTrace& rank, std::uint32_t group, std::int64_t sequence) {
  const std::optional<EndedOperation>& last = rank.ending.last_ended;
  if (last && !last->is_message && last->group == group && last->sequence >= sequence) return true;
  return std::any_of(rank.communications.begin(), rank.communications.end(), [&](const Communication& c) {
    return c.group == group && c.sequence != kNoSequence && c.sequence >= sequence;
  });
}

}  // namespace

std::map<std::uint32_t, EndedTogether> last_ended_together(const Job& job) {
  std::map<std::uint32_t, EndedTogether> found;
  for (const RankTrace& rank : job.ranks) {
    const EndedWell ended_well(rank);
    for (const Communication& c : rank.communications) {
      if (c.group == kNone || c.sequence == kNoSequence || !is_n_to_n(c.operation)) continue;
      if (c.activity >= rank.activities.size()) continue;
      const Activity& activity = rank.activities[c.activity];
      if (!ended_well.has(c.group, activity)) continue;
      EndedTogether& together = found[c.group];
      if (together.sequence != kNoSequence && together.sequence >= c.sequence) continue;
      together = {c.sequence, activity.name, activity.end, std::nullopt};
      if (activity.step < rank.steps.size()) together.step = rank.steps[activity.step].number;
    }
  }
  return found;
}

ShownByOthers::ShownByOthers(const Job& job) : job_(&job), together_(last_ended_together(job)) {}

std::optional<EndedTogether> ShownByOthers::last_of(std::size_t index) const {
  const RankTrace& rank = job_->ranks[index];
  if (rank.ending.closed) return std::nullopt;
  const Nanoseconds own = last_sign(rank);
  std::optional<EndedTogether> latest;
  for (const auto& [group, together] : together_) {
    if (together.end <= own || (latest && together.end <= latest->end)) continue;
    const std::vector<std::int32_t>& members = job_->groups[group].ranks;
    if (std::find(members.begin(), members.end(), rank.rank) != members.end() &&
        !holds(rank, group, together.sequence))
      latest = together;
  }
  return latest;
}

}  // namespace lockstep::analyzer

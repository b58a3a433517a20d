#include "analyzer/diagnose/shown_by_others.h"

#include <algorithm>
#include <vector>

#include "analyzer/diagnose/job_endings.h"
#include "analyzer/match/match.h"

namespace lockstep::analyzer {
namespace {

// When a rank last began an operation, and which of its ended ones therefore ended well: what fails stops the
// rank, but not before it waits for it, and asynchronous ones may have begun meanwhile.
class EndedWell {
 public:
  explicit EndedWell(const RankTrace& rank) : rank_(&rank) {
    for (const Communication& c : rank.communications)
      if (c.activity < rank.activities.size()) begins(c.group, rank.activities[c.activity].begin);
    for (const OpenOperation& open : rank.ending.operations) begins(open.group, open.begin);
  }
  // Of a step: another operation began when that was over. Else, of its group, when it was over itself.
  bool has(std::uint32_t group, const Activity& activity) const {
    return activity.step < rank_->steps.size() ? last_ >= rank_->steps[activity.step].end
                                               : last_of_group_.at(group) >= activity.end;
  }

 private:
  void begins(std::uint32_t group, Nanoseconds begin) {
    last_ = std::max(last_, begin);
    const auto [where, fresh] = last_of_group_.try_emplace(group, begin);
    where->second = std::max(where->second, begin);
  }

  const RankTrace* rank_;
  Nanoseconds last_ = kUnknownTime;
  std::map<std::uint32_t, Nanoseconds> last_of_group_;
};

bool holds(const RankTrace& rank, std::uint32_t group, std::int64_t sequence) {
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

std::optional<EndedTogether> last_shown_by_others(const Job& job, std::size_t index) {
  const RankTrace& rank = job.ranks[index];
  if (rank.ending.closed) return std::nullopt;
  const Nanoseconds own = last_sign(rank);
  std::optional<EndedTogether> latest;
  for (const auto& [group, together] : last_ended_together(job)) {
    const std::vector<std::int32_t>& members = job.groups[group].ranks;
    if (std::find(members.begin(), members.end(), rank.rank) == members.end()) continue;
    if (!holds(rank, group, together.sequence) && together.end > own &&
        (!latest || together.end > latest->end))
      latest = together;
  }
  return latest;
}

}  // namespace lockstep::analyzer

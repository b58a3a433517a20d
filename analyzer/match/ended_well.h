// Which of a rank's ended operations did not end by a failure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// By what it began afterwards: what fails stops the rank, but not before it waits for it, and asynchronous
// ones may have begun meanwhile. Of operations of the rank itself; made in O(communications · log groups).
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

}  // namespace lockstep::analyzer

#include "analyzer/diagnose/stuck_devices.h"

#include <algorithm>

#include "analyzer/diagnose/ended_operations.h"
#include "analyzer/match/match.h"

namespace lockstep::analyzer {
namespace {

// One may have ended on all ranks at about the time when the trace of this one did.
constexpr std::size_t kLeastOperations = 2;

}  // namespace

std::vector<StuckDevice> find_stuck_devices(const Job& job) {
  std::vector<StuckDevice> stuck;
  if (std::all_of(job.ranks.begin(), job.ranks.end(),
                  [](const RankTrace& rank) { return rank.ending.operations.empty(); }))
    return stuck;
  const EndedOperations ended(job);
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const RankTrace& rank = job.ranks[i];
    if (rank.device == "cpu") continue;
    StuckDevice device{i, {}, 0};
    for (const OpenOperation& operation : rank.ending.operations) {
      // Without a silence that somebody noted, a recording that ended a little earlier looks the same.
      if (rank.ending.hang_noted == kUnknownTime || operation.begin > rank.ending.hang_noted) continue;
      if (operation.may_have_ended || operation.group == kNone || operation.sequence == kNoSequence ||
          !is_n_to_n(operation.operation))
        continue;
      const std::vector<std::int32_t>& members = job.groups[operation.group].ranks;
      const bool others_ended =
          members.size() > 1 && std::all_of(members.begin(), members.end(), [&](std::int32_t member) {
            return member == rank.rank || ended.has(member, operation.group, operation.sequence);
          });
      if (others_ended && device.operations++ == 0) device.operation = operation;
    }
    if (device.operations >= kLeastOperations) stuck.push_back(device);
  }
  return stuck;
}

}  // namespace lockstep::analyzer

#include "analyzer/diagnose/stuck_devices.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/match/match.h"

namespace lockstep::analyzer {
namespace {

// One may have ended on all ranks at about the time when the trace of this one did.
constexpr std::size_t kLeastOperations = 2;

// What each rank of a job has ended.
class Ended {
 public:
  explicit Ended(const Job& job) {
    for (const RankTrace& rank : job.ranks) {
      Of& of = of_[rank.rank];
      for (const Communication& c : rank.communications)
        if (c.group != kNone && c.sequence != kNoSequence) of.operations.insert({c.group, c.sequence});
      for (const GroupProgress& progress : rank.ending.progress) {
        if (progress.group == kNone) continue;
        const auto [where, fresh] = of.until.try_emplace(progress.group, progress.ended);
        where->second = std::max(where->second, progress.ended);
      }
    }
  }
  bool has(std::int32_t rank, std::uint32_t group, std::int64_t sequence) const {
    const auto of = of_.find(rank);
    if (of == of_.end()) return false;
    const auto until = of->second.until.find(group);
    if (until != of->second.until.end() && until->second >= sequence) return true;
    return of->second.operations.contains({group, sequence});
  }

 private:
  struct Of {
    std::map<std::uint32_t, std::int64_t> until;  // by group: all numbers up to this one
    std::set<std::pair<std::uint32_t, std::int64_t>> operations;
  };
  std::map<std::int32_t, Of> of_;
};

}  // namespace

std::vector<StuckDevice> find_stuck_devices(const Job& job) {
  std::vector<StuckDevice> stuck;
  if (std::all_of(job.ranks.begin(), job.ranks.end(),
                  [](const RankTrace& rank) { return rank.ending.operations.empty(); }))
    return stuck;
  const Ended ended(job);
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

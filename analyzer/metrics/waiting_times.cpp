#include "analyzer/metrics/waiting_times.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "analyzer/metrics/compute_intervals.h"

namespace lockstep::analyzer {
namespace {

IntervalSet without_compute(const RankTrace& rank, std::vector<Interval> times) {
  if (times.empty()) return {};
  return subtract(IntervalSet::from(std::move(times)), compute_of(rank));
}

}  // namespace

IntervalSet communicating_alone(const RankTrace& rank) {
  std::vector<Interval> times;
  for (const Communication& operation : rank.communications) {
    const Activity& activity = rank.activities[operation.activity];
    times.push_back({activity.begin, activity.end});
  }
  return without_compute(rank, std::move(times));
}

IntervalSet waiting_alone(const RankTrace& rank, std::span<const CommunicationWait> waits) {
  std::vector<Interval> times;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const Activity& activity = rank.activities[rank.communications[i].activity];
    if (activity.begin < waits[i].until) times.push_back({activity.begin, waits[i].until});
  }
  return without_compute(rank, std::move(times));
}

}  // namespace lockstep::analyzer

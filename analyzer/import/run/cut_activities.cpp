#include "analyzer/import/run/cut_activities.h"

#include <utility>
#include <vector>

namespace lockstep::analyzer::run {

bool computes_on_thread(const RankTrace& rank, const Activity& activity) {
  return activity.activity_class == Class::compute && activity.lane < rank.lanes.size() &&
         rank.lanes[activity.lane].kind == trace::LaneKind::compute_thread;
}

// Where one range begins at once when another ends, and both are cut there, the other's end comes first
// (order_activities keeps that).
void cut_activities(RankTrace& rank, const std::function<const IntervalSet*(const Activity&)>& cut_of) {
  std::vector<Activity> activities;
  activities.reserve(rank.activities.size());
  for (const Activity& whole : rank.activities) {
    const IntervalSet* const cut = computes_on_thread(rank, whole) ? cut_of(whole) : nullptr;
    if (cut == nullptr || cut->measure_within(whole.begin, whole.end) == 0) {
      activities.push_back(whole);
      continue;
    }
    IntervalSet range;
    range.append(whole.begin, whole.end);
    std::vector<Interval> pieces = subtract(range, *cut).intervals();
    if (pieces.empty() || pieces.front().begin > whole.begin)
      pieces.insert(pieces.begin(), {whole.begin, whole.begin});
    if (pieces.back().end < whole.end) pieces.push_back({whole.end, whole.end});
    for (std::size_t n = 0; n < pieces.size(); ++n) {
      Activity piece = whole;
      piece.begin = pieces[n].begin;
      piece.end = pieces[n].end;
      if (n > 0) piece.launch_begin = piece.launch_end = piece.begin;
      activities.push_back(piece);
    }
  }
  rank.activities = std::move(activities);
}

}  // namespace lockstep::analyzer::run

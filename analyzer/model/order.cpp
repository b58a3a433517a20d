#include "analyzer/model/order.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace lockstep::analyzer {
namespace {

void sort_activities(RankTrace& trace) {
  const auto key = [](const Activity& a) { return std::tie(a.begin, a.launch_begin, a.end); };
  const auto before = [&](const Activity& a, const Activity& b) { return key(a) < key(b); };
  if (!std::is_sorted(trace.activities.begin(), trace.activities.end(), before))
    std::stable_sort(trace.activities.begin(), trace.activities.end(), before);
}

void order_communications(RankTrace& trace) {
  std::vector<Communication> ordered;
  ordered.reserve(trace.communications.size());
  for (std::size_t i = 0; i < trace.activities.size(); ++i) {
    Activity& activity = trace.activities[i];
    if (activity.communication == kNone) continue;
    ordered.push_back(trace.communications[activity.communication]);
    ordered.back().activity = static_cast<std::uint32_t>(i);
    activity.communication = static_cast<std::uint32_t>(ordered.size() - 1);
  }
  trace.communications = std::move(ordered);
}

}  // namespace

void order_activities(RankTrace& trace) {
  sort_activities(trace);
  order_communications(trace);
}

}  // namespace lockstep::analyzer

#include "analyzer/model/order.h"

#include <cstdint>
#include <tuple>
#include <utility>

#include "base/sort_by_key.h"

namespace lockstep::analyzer {
namespace {

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
  stable_sort_by_key(trace.activities,
                     [](const Activity& a) { return std::tuple(a.begin, a.launch_begin, a.end); });
  order_communications(trace);
}

}  // namespace lockstep::analyzer

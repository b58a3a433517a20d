#include <algorithm>
#include <array>

#include "analyzer/import/rank/rank_import.h"
#include "analyzer/model/is_communication.h"
#include "base/time_math.h"
#include "viewer/opening/preview.h"

namespace lockstep::viewer {

using analyzer::Activity;
using trace::Nanoseconds;

RankPreview preview_of(const analyzer::RankImport& import) {
  RankPreview preview;
  preview.rank.rank = import.trace.rank;
  preview.rank.host = import.trace.host;
  preview.clock = import.clock_name;
  const std::vector<Activity>& activities = import.trace.activities;  // by begin
  if (activities.empty()) return preview;
  const Nanoseconds first = activities.front().begin;
  // Of importers, times are at most kLatest apart from zero: their differences fit.
  const Nanoseconds window =
      (activities.back().begin - first) / static_cast<Nanoseconds>(kPreviewWindows) + 1;
  preview.first = saturating_add(first, import.clock_zero);
  // A window's events of a kind are one span; it begins with the first of them and ends with the last to end.
  std::array<Nanoseconds, 2> last{-1, -1};
  for (const Activity& activity : activities) {
    const bool communication = analyzer::is_communication(activity.activity_class);
    std::vector<PreviewSpan>& spans = communication ? preview.rank.communicating : preview.rank.computing;
    const Nanoseconds at = (activity.begin - first) / window;
    if (at != last[communication ? 1 : 0])
      spans.push_back({saturating_add(activity.begin, import.clock_zero), 0, 0});
    last[communication ? 1 : 0] = at;
    PreviewSpan& span = spans.back();
    const Nanoseconds end = saturating_add(activity.end, import.clock_zero);
    span.end = span.events == 0 ? end : std::max(span.end, end);
    ++span.events;
  }
  return preview;
}

}  // namespace lockstep::viewer

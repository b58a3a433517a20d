// Counters below a rank's lanes: filled from 0, on one scale for all ranks.
#include <algorithm>
#include <cmath>

#include "viewer/timeline/counter_columns.h"
#include "viewer/timeline/draw.h"

namespace lockstep::viewer {

void draw_counter_row(Canvas& canvas, const Frame& frame, const CounterSeries& counter, const Rect& area) {
  const TimeAxis& axis = frame.axis;
  const double span = counter.scale.high - counter.scale.low;
  const auto y_of = [&](double value) {
    const double share = span > 0 ? (value - counter.scale.low) / span : 0;
    return static_cast<float>(std::round(area.bottom - std::clamp(share, 0.0, 1.0) * (area.height() - 1)));
  };
  const Color fill = with_alpha(frame.theme.dim_text, 0.35);
  const float zero = y_of(0);
  for (const CounterColumn& column : counter_columns(counter, axis, frame.scene.timeline().content.end)) {
    const auto left = static_cast<float>(column.left), right = static_cast<float>(column.right);
    // Least and greatest as a line, and below it what was there all the time.
    const float top = y_of(column.range.high), bottom = y_of(column.range.low);
    const double nearest = std::clamp(0.0, column.range.low, column.range.high);
    const float inner = y_of(nearest);
    if (inner != zero) canvas.box({left, std::min(inner, zero), right, std::max(inner, zero)}, fill);
    canvas.box({left, top - 1, right, std::max(top, bottom)}, frame.theme.dim_text);
  }
}

}  // namespace lockstep::viewer

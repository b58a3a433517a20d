// Rank × step at a glance: one quantity of every rank in every step, by colour. Where there are more cells
// than pixels, a pixel shows the greatest of those that share it: what stands out is never averaged away.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viewer/timeline/canvas.h"
#include "viewer/timeline/scene.h"
#include "viewer/timeline/theme.h"

namespace lockstep::viewer {

enum class StepQuantity : std::uint8_t {
  step_time,
  barrier_wait,  // and waiting for messages: all exposed waiting
  exposed_communication,
  compute,
  pipeline_bubble,
  data_wait,
  host_bound,
};
inline constexpr std::size_t kStepQuantities = 7;
const char* title_of(StepQuantity quantity);  // "barrier wait"
// In ns; absent where the analysis does not know it.
std::optional<std::int64_t> value_of(const analyzer::Measures& measures, StepQuantity quantity);

struct HeatMap {
  StepQuantity quantity = StepQuantity::step_time;
  std::vector<std::int64_t> steps;  // numbers, in order
  std::vector<std::int32_t> ranks;  // as in Timeline::ranks
  // [rank · steps + step]; absent where the rank has no such step or the value is not known.
  std::vector<std::optional<std::int64_t>> ns;
  // Of those that are known; both 0 if none is. The least is 0 of all quantities but the step's time.
  // Of the steady steps where the report has such: a cell above the most is clipped.
  std::int64_t least = 0, most = 0;

  std::optional<std::int64_t> at(std::size_t rank, std::size_t step) const {
    return ns[rank * steps.size() + step];
  }
};
// O(steps of all ranks).
HeatMap make_heat_map(const Scene& scene, StepQuantity quantity);

// What to show before anybody chose: waiting, or the next best that is known of any step.
StepQuantity first_quantity(const Scene& scene);

struct HeatCell {
  std::size_t rank = 0;  // Timeline::ranks
  std::size_t step = 0;  // HeatMap::steps
  bool operator==(const HeatCell&) const = default;
};

// Where the cells stand: step i covers the pixels [x(i), x(i + 1)).
class HeatMapPlaces {
 public:
  HeatMapPlaces(const HeatMap& map, const Rect& area) : map_(map), area_(area) {}
  Rect cell(const HeatCell& cell) const;
  // The cell under a pixel; of several that share it the one that is drawn.
  std::optional<HeatCell> at(float x, float y) const;
  // First and last + 1 of the ranks (or steps) that share the pixel row (or column) `pixel`.
  std::pair<std::size_t, std::size_t> ranks_of(int pixel) const;
  std::pair<std::size_t, std::size_t> steps_of(int pixel) const;

 private:
  const HeatMap& map_;
  Rect area_;
};

// 0: least, 1: most. One hue whose lightness runs evenly: it reads in grey and to the colour-blind.
Color heat_color(const Theme& theme, double share);

// What a map is drawn as: equal neighbours of a row are one box. O(cells + pixels), so not of every frame.
struct HeatBox {
  Rect rect;
  std::optional<Color> color;  // absent: not known
  bool clipped = false;        // above the scale
};
std::vector<HeatBox> heat_boxes(const HeatMap& map, const Rect& area, const Theme& theme);

// `boxes`: those of the map on that area, in that theme.
void draw_heat_map(Canvas& canvas, const HeatMap& map, const std::vector<HeatBox>& boxes, const Rect& area,
                   const Theme& theme, std::optional<HeatCell> hovered, std::optional<HeatCell> selected);

}  // namespace lockstep::viewer

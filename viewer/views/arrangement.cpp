#include "viewer/views/arrangement.h"

#include <algorithm>
#include <numeric>

namespace lockstep::viewer {

PanelPlaces choose_places(float width, float height, float scale, int timelines) {
  constexpr float kTinyWidth = 480, kTinyHeight = 300;
  constexpr float kNarrow = 900, kLow = 560;
  width /= std::max(scale, 0.1F);
  height /= std::max(scale, 0.1F);
  if (width < kTinyWidth || height < kTinyHeight) return PanelPlaces::tabs;
  if (timelines > 1 && height < kLow) return PanelPlaces::right;
  if (width < kNarrow) return PanelPlaces::below;
  return height < kLow ? PanelPlaces::right : PanelPlaces::around;
}

HeaderContents fit_header(float room, float gap, float summary, const std::vector<LegendEntry>& legend) {
  HeaderContents contents;
  contents.causes.assign(legend.size(), false);
  std::vector<std::size_t> by_time(legend.size());
  std::iota(by_time.begin(), by_time.end(), std::size_t{0});
  std::stable_sort(by_time.begin(), by_time.end(),
                   [&](std::size_t a, std::size_t b) { return legend[a].time_ns > legend[b].time_ns; });
  float left = room;
  bool all = true;
  for (const std::size_t i : by_time) {
    // One that is left out ends it: what takes less is not shown in its stead.
    all = all && legend[i].width + gap <= left;
    if (!all) break;
    contents.causes[i] = true;
    left -= legend[i].width + gap;
  }
  contents.summary = all && summary + gap <= left;
  return contents;
}

}  // namespace lockstep::viewer

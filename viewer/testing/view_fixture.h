// A synthetic run on a canvas of 1216 × 800 pixels: 216 of gutter and 992 of lanes, unless the test says
// otherwise.
#pragma once

#include <memory>

#include "viewer/testing/recording_canvas.h"
#include "viewer/testing/scene_of.h"
#include "viewer/testing/synthetic_job.h"
#include "viewer/timeline/draw.h"
#include "viewer/timeline/input.h"
#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

struct View {
  explicit View(std::unique_ptr<Scene> shown)
      : scene(std::move(shown)), theme(dark_theme()), state(scene->timeline()) {
    arrange();
  }
  explicit View(analyzer::Job job) : View(load(std::move(job))) {}
  explicit View(const SyntheticOptions& options = {}) : View(synthetic_job(options)) {}

  static std::unique_ptr<Scene> load(const analyzer::Job& job) { return scene_of(job); }

  // After the state changed.
  void arrange() {
    const RankSequence sequence = order_ranks(scene->facts(), state.order);
    regions = divide(whole, sizes, sequence.ranks.size());
    layout = lay_out(scene->timeline(), state.expansion, sizes, sequence,
                     static_cast<int>(regions.lanes.height()));
    minimap.prepare(*scene, regions.minimap, theme, layout.shown);
    follow_chain(*scene, state);
  }
  Frame frame() const {
    return {*scene,
            state,
            layout,
            regions,
            sizes,
            theme,
            TimeAxis{state.view, regions.lanes.left, regions.lanes.width()}};
  }
  void show(Nanoseconds begin, Nanoseconds end) { state.view = fit({begin, end}, 0); }
  RecordingCanvas draw() const {
    RecordingCanvas canvas;
    draw_timeline(canvas, frame(), minimap, std::nullopt);
    return canvas;
  }
  bool apply(const TimelineInput& input) {
    const bool changed = control.apply(input, frame(), minimap, state);
    arrange();
    return changed;
  }
  // The first row of a role; where it stands on the screen.
  RowPlace place(std::size_t rank, LaneRole role) const {
    const RankPlace& at = layout.ranks[rank];
    for (std::uint32_t i = 0; i < at.row_count; ++i) {
      const RowPlace& row = layout.rows[at.first_row + i];
      if (scene->timeline().ranks[rank].lanes[row.lane].role == role) return row;
    }
    return {};
  }
  Rect area(std::size_t rank, LaneRole role) const {
    const RowPlace row = place(rank, role);
    const float top = frame().rank_top(rank) + static_cast<float>(row.y);
    return {regions.lanes.left, top, regions.lanes.right, top + static_cast<float>(row.height)};
  }
  float x(Nanoseconds time) const { return static_cast<float>(frame().axis.x(time)); }
  // The middle of a row, at a time.
  Point point(std::size_t rank, LaneRole role, Nanoseconds time) const {
    const Rect row = area(rank, role);
    return {x(time), (row.top + row.bottom) / 2};
  }

  std::unique_ptr<Scene> scene;
  Theme theme;
  TimelineState state;
  Sizes sizes;
  Rect whole{0, 0, 1216, 800};
  Layout layout;
  Regions regions;
  Minimap minimap;
  TimelineControl control;
};

// Boxes, hatches, … within a row.
inline std::vector<RecordingCanvas::Call> within(const RecordingCanvas& canvas, RecordingCanvas::Shape shape,
                                                 const Rect& area) {
  std::vector<RecordingCanvas::Call> found;
  for (const RecordingCanvas::Call& call : canvas.of(shape)) {
    if (call.rect.top >= area.top && call.rect.bottom <= area.bottom && call.rect.left >= area.left &&
        call.rect.right <= area.right) {
      found.push_back(call);
    }
  }
  return found;
}

// Boxes of a row without its ground.
inline std::vector<RecordingCanvas::Call> boxes_in(const View& view, const RecordingCanvas& canvas,
                                                   std::size_t rank, LaneRole role) {
  auto boxes = within(canvas, RecordingCanvas::Shape::box, view.area(rank, role));
  std::erase_if(boxes, [&](const RecordingCanvas::Call& call) {
    return call.color == view.theme.stripe || call.color == view.theme.grid;
  });
  return boxes;
}

}  // namespace lockstep::viewer

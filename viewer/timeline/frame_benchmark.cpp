// A whole frame's own work, drawn on a canvas that only counts: a scripted journey over many ranks.
#include <benchmark/benchmark.h>

#include "analyzer/analysis.h"
#include "viewer/prepared/prepare.h"
#include "viewer/testing/synthetic_job.h"
#include "viewer/timeline/draw.h"
#include "viewer/timeline/input.h"
#include "viewer/timeline/scene.h"

namespace lockstep::viewer {
namespace {

class CountingCanvas final : public Canvas {
 public:
  void box(const Rect&, Color) override { ++calls; }
  void hatch(const Rect&, Color) override { ++calls; }
  void frame(const Rect&, Color, float) override { ++calls; }
  void line(Point, Point, Color, float) override { ++calls; }
  void triangle(Point, Point, Point, Color) override { ++calls; }
  void text(Point, std::string_view, Color, Font) override { ++calls; }
  float text_width(std::string_view text, Font) const override { return 7 * static_cast<float>(text.size()); }
  float text_height(Font) const override { return 12; }
  void clip(const Rect&) override {}
  void unclip() override {}
  void next_layer() override {}
  std::size_t calls = 0;
};

const Scene& synthetic_scene(std::int64_t ranks, std::int64_t steps) {
  static std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<Scene>> scenes;
  std::unique_ptr<Scene>& scene = scenes[{ranks, steps}];
  if (!scene) {
    SyntheticOptions options;
    options.steps = steps;
    for (std::int64_t rank = 0; rank < ranks; ++rank) options.late.push_back(rank * 37 % 400);
    const analyzer::Job job = synthetic_job(options);
    scene =
        Scene::load(prepare(job, analyzer::analyze(job).value(), TablesWriter::in_memory().value()).value())
            .value();
  }
  return *scene;
}

// Arguments: ranks, steps (four events a rank and step, and their causes). Each iteration is a frame of a
// journey: zoom in over five decades and out again, scrolling through the ranks, the pointer over the lanes.
void draw_frame(benchmark::State& state) {
  const Scene& scene = synthetic_scene(state.range(0), state.range(1));
  const Theme theme = dark_theme();
  const Sizes sizes;
  const Regions regions = divide({0, 0, 1600, 1000}, sizes, scene.timeline().ranks.size());
  TimelineState view(scene.timeline());
  TimelineControl control;
  Minimap minimap;
  minimap.prepare(scene, regions.minimap, theme, all_ranks(scene.timeline().ranks.size()).ranks);
  std::size_t calls = 0;
  std::int64_t step = 0;
  for (auto _ : state) {
    const Layout layout = lay_out(scene.timeline(), view.expansion, sizes);
    const Frame frame{scene,
                      view,
                      layout,
                      regions,
                      sizes,
                      theme,
                      TimeAxis{view.view, regions.lanes.left, regions.lanes.width()}};
    TimelineInput input;
    input.pointer = Point{700, 300};
    input.wheel = step % 104 < 52 ? 1.0F : -1.0F;
    control.apply(input, frame, minimap, view);
    view.scroll = clamp_scroll(static_cast<int>(step * 97 % std::max(layout.height, 1)), frame);
    const Frame shown{scene,
                      view,
                      layout,
                      regions,
                      sizes,
                      theme,
                      TimeAxis{view.view, regions.lanes.left, regions.lanes.width()}};
    CountingCanvas canvas;
    draw_timeline(canvas, shown, minimap, 700.0F);
    calls += canvas.calls;
    ++step;
  }
  state.counters["calls"] =
      benchmark::Counter(static_cast<double>(calls), benchmark::Counter::kAvgIterations);
}
BENCHMARK(draw_frame)
    ->ArgNames({"ranks", "steps"})
    ->Args({8, 100})
    ->Args({8, 10'000})
    ->Args({8, 100'000})
    ->Args({256, 1'000})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace lockstep::viewer

BENCHMARK_MAIN();

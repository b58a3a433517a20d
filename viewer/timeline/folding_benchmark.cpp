// Does a frame cost what its pixels cost, and not what its events cost? The same row at many zooms, and rows
// of very different lengths at the same zoom: `boxes` is what there is to draw, the time must follow it and
// not the events.
#include <benchmark/benchmark.h>

#include <map>
#include <random>

#include "viewer/timeline/folding.h"

namespace lockstep::viewer {
namespace {

constexpr double kPixels = 1600;

// Kernels of 1 to 20 µs with gaps of up to 5 µs, as on a busy stream.
const RowColumns& row_of(std::int64_t events) {
  static std::map<std::int64_t, RowColumns> rows;
  RowColumns& row = rows[events];
  if (row.size() > 0) return row;
  std::mt19937_64 random(13);
  Nanoseconds at = 1'700'000'000'000'000'000;
  std::uint64_t busy = 0;
  for (std::int64_t i = 0; i < events; ++i) {
    at += static_cast<Nanoseconds>(random() % 5'000);
    const auto length = static_cast<Nanoseconds>(1'000 + random() % 19'000);
    row.begin.push_back(at);
    row.end.push_back(at += length);
    row.busy.push_back(busy += static_cast<std::uint64_t>(length));
    row.item.push_back(static_cast<std::uint32_t>(i));
  }
  return row;
}

// Arguments: events of the row; the visible share of it, one in so many.
void fold_row(benchmark::State& state) {
  const RowColumns& row = row_of(state.range(0));
  const double whole = static_cast<double>(distance(row.begin.front(), row.end.back()));
  const double span = whole / static_cast<double>(state.range(1));
  const TimeAxis axis{{saturating_add(row.begin.front(), (whole - span) / 2), 0, span}, 0, kPixels};
  std::vector<FoldedBox> boxes;
  for (auto _ : state) {
    fold(row.columns(), axis.visible(), threshold(axis), boxes);
    benchmark::DoNotOptimize(boxes.data());
  }
  state.counters["boxes"] = static_cast<double>(boxes.size());
  state.counters["ns/px"] = axis.ns_per_pixel();
}
BENCHMARK(fold_row)
    ->ArgNames({"events", "zoom"})
    ->ArgsProduct({{1'000'000, 10'000'000}, {1, 10, 100, 1'000, 10'000, 100'000, 1'000'000}})
    ->Unit(benchmark::kMicrosecond);

// A million events at one instant: one box, a handful of binary searches.
void fold_identical_events(benchmark::State& state) {
  RowColumns row;
  row.begin.assign(1'000'000, 42);
  row.end.assign(1'000'000, 42);
  std::vector<FoldedBox> boxes;
  for (auto _ : state) {
    fold(row.columns(), {0, 100}, 1, boxes);
    benchmark::DoNotOptimize(boxes.data());
  }
  state.counters["boxes"] = static_cast<double>(boxes.size());
}
BENCHMARK(fold_identical_events)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace lockstep::viewer

BENCHMARK_MAIN();

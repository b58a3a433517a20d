// How long a Kineto trace takes until it can be drawn, beside what `lockstep analyze` takes for the same
// files: opened for the first time (prepared and kept) and again (mapped). In one run, so that the ratios
// hold on a loaded machine too.
//
//   lockstep_opening_benchmark                      4 ranks of 100 MB
//   LOCKSTEP_OPENING_MEGABYTES=500 …                so many a rank
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "analyzer/analysis.h"
#include "analyzer/import/generated_kineto.h"
#include "analyzer/open_job.h"
#include "tests/temporary_folder.h"
#include "viewer/opening/open_run.h"
#include "viewer/opening/prepared_file.h"

namespace lockstep::viewer {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Written once.
const std::vector<std::string>& traces() {
  static const test::TemporaryFolder folder;
  static const std::vector<std::string> paths = [] {
    const char* const set = std::getenv("LOCKSTEP_OPENING_MEGABYTES");
    const std::uint64_t megabytes = set == nullptr ? 100 : std::strtoull(set, nullptr, 10);
    for (int rank = 0; rank < 4; ++rank) {
      const auto made =
          analyzer::generate_kineto(folder / fmt::format("rank-{}.json", rank),
                                    {.least_bytes = megabytes * 1'000'000, .rank = rank, .world_size = 4});
      if (!made.ok()) std::exit(1);
    }
    return std::vector<std::string>{folder.path().string()};
  }();
  return paths;
}

double analyze_once() {
  const Clock::time_point begin = Clock::now();
  const auto job = analyzer::open_job(traces(), {});
  const auto analysis = analyzer::analyze(job.value());
  benchmark::DoNotOptimize(analysis.ok());
  return since(begin);
}

struct Opening {
  double first_picture = 0;
  double whole = 0;
};

Opening open_once() {
  const Clock::time_point begin = Clock::now();
  Opening opening;
  OpenOptions options;
  options.preview = [&](const RunPreview& preview) {
    benchmark::DoNotOptimize(preview.events);
    if (opening.first_picture == 0) opening.first_picture = since(begin);
  };
  const auto scene = open_run(traces(), options);
  benchmark::DoNotOptimize(scene.ok());
  opening.whole = since(begin);
  return opening;
}

// Time: opening for the first time. In units of an analysis just before it: `of_analyze` the same,
// `first_picture_of_analyze` until the first rank is on the screen.
void first_opening(benchmark::State& state) {
  analyze_once();  // the files are in memory from here on, for both
  double analyzing = 0, opening = 0, picture = 0, again = 0;
  for (auto _ : state) {
    std::filesystem::remove(prepared_file_of(traces()));
    analyzing += analyze_once();
    const Opening first = open_once();
    opening += first.whole;
    picture += first.first_picture;
    again += open_once().whole;
    state.SetIterationTime(first.whole);
  }
  state.counters["first_picture_of_analyze"] = picture / analyzing;
  state.counters["of_analyze"] = opening / analyzing;
  state.counters["again_of_analyze"] = again / analyzing;
  state.counters["again_ms"] = 1e3 * again / static_cast<double>(state.iterations());
}
BENCHMARK(first_opening)->UseManualTime()->Iterations(5)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lockstep::viewer

BENCHMARK_MAIN();

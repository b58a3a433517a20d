// The real window on a run of 50 million events over 1,000 ranks: how long the first picture takes, what a
// frame of a scripted journey costs from NewFrame to Render (without the rasterization of llvmpipe), and what
// memory it takes beside the mapped pages. The same journey and the first picture again from a file of which
// nothing is in memory when it is opened; that journey goes at 60 frames a second, since nobody sees more,
// and how far reading ahead keeps up with it is the question.
//
//   lockstep_journey_benchmark                        50 million events over 1,000 ranks
//   LOCKSTEP_JOURNEY_EVENTS=500000 …                  so many a rank: with 1,000 ranks a file of 55 GB
//
// Needs a display or Xvfb.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "tests/temporary_folder.h"
#include "viewer/opening/return_memory.h"
#include "viewer/prepared/serialize.h"
#include "viewer/testing/large_run.h"
#include "viewer/window/app.h"
#include "viewer/window/virtual_display.h"
#include "viewer/window/window.h"

namespace lockstep::viewer {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::int64_t events_per_rank() {
  const char* const set = std::getenv("LOCKSTEP_JOURNEY_EVENTS");
  return set == nullptr ? 50'000 : std::max(1, std::atoi(set));
}

// Written once for all benchmarks of this program.
const std::filesystem::path& large_run() {
  static const test::TemporaryFolder folder;
  static const std::filesystem::path path = [] {
    std::filesystem::path made = folder.path() / "run.lockstep-view";
    // By a process of its own: what writing takes would count as the viewer's memory.
    const pid_t writer = ::fork();
    if (writer == 0) ::_exit(write_large_run({1000, events_per_rank()}, made) ? 0 : 1);
    int status = 0;
    if (writer < 0 || ::waitpid(writer, &status, 0) != writer || status != 0) std::exit(1);
    return made;
  }();
  return path;
}

// The kernel forgets what it holds of the run.
void evict() {
  const int file = ::open(large_run().c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 || ::fdatasync(file) != 0 || ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0)
    std::exit(1);
  ::close(file);
}

// How often the thread that draws waited for the disk.
long reads() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_majflt;
}

// Of the process, in MB; `field` of /proc/self/status.
double memory_mb(const char* field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field)) return std::atof(line.c_str() + line.find(':') + 1) / 1024;
  return 0;
}

std::unique_ptr<Scene> open_scene() {
  return Scene::load(Tables::open(large_run(), {layout_of_contents(), 0}).value()).value();
}

struct Shown {
  Shown() {
    if (std::getenv("DISPLAY") == nullptr) {
      display = std::make_unique<VirtualDisplay>(VirtualDisplay::start(640, 480).value());
      ::setenv("DISPLAY", display->name().c_str(), 1);
    }
    window = Window::open({"journey", 1920, 1080, true}).value();
  }
  std::unique_ptr<VirtualDisplay> display;
  std::unique_ptr<Window> window;
};

// One for all benchmarks: its display outlives them.
Window& window() {
  static Shown shown;
  return *shown.window;
}

enum class From { memory, disk };

void journey(benchmark::State& state, From from) {
  large_run();
  window();
  if (from == From::disk) evict();
  const std::unique_ptr<Scene> scene = open_scene();
  return_memory();
  App app(*scene, dark_theme(), 1);
  for (int frame = 0; frame < 10; ++frame) window().frame(app.theme().background, [&app] { app.frame(); });
  window().set_rasterizing(false);
  // What is still being rasterized is not these frames' own work.
  (void)window().read_pixels();
  const long reads_before = reads();
  std::vector<double> times;
  const TimeRange content = scene->timeline().content;
  std::int64_t frame = 0;
  for (auto _ : state) {
    // Seven decades of zoom down and up again, while it pans and scrolls through all ranks, and the pointer
    // wanders.
    TimelineState& view = app.state();
    const double phase = static_cast<double>(frame % 400) / 400;
    const double decades = 7 * (phase < 0.5 ? 2 * phase : 2 - 2 * phase);
    view.view.span = static_cast<double>(distance(content.begin, content.end)) / std::pow(10, decades);
    view.view.begin = saturating_add(
        content.begin, static_cast<double>(distance(content.begin, content.end)) * (0.1 + 0.8 * phase));
    view.scroll = static_cast<int>(frame * 137 % 60'000);
    window().set_pointer(
        Point{300 + static_cast<float>(frame * 7 % 1000), 150 + static_cast<float>(frame * 3 % 700)});
    window().frame(app.theme().background, [&app] { app.frame(); });
    times.push_back(window().own_seconds());
    state.SetIterationTime(times.back());
    ++frame;
    if (from == From::disk) std::this_thread::sleep_for(std::chrono::microseconds(16'667));
  }
  std::sort(times.begin(), times.end());
  state.counters["p50_ms"] = 1e3 * times[times.size() / 2];
  state.counters["p99_ms"] = 1e3 * times[times.size() * 99 / 100];
  state.counters["max_ms"] = 1e3 * times.back();
  state.counters["reads"] = static_cast<double>(reads() - reads_before);
  state.counters["heap_MB"] = memory_mb("RssAnon");
  state.counters["mapped_MB"] = memory_mb("RssFile");
}
// First, so that its memory is that of one run that was opened.
BENCHMARK_CAPTURE(journey, memory, From::memory)
    ->UseManualTime()
    ->Iterations(400)
    ->Unit(benchmark::kMillisecond);

void first_picture(benchmark::State& state, From from) {
  large_run();
  window();
  window().set_rasterizing(true);
  for (auto _ : state) {
    if (from == From::disk) evict();
    const Clock::time_point begin = Clock::now();
    const std::unique_ptr<Scene> scene = open_scene();
    App app(*scene, dark_theme(), 1);
    for (int frame = 0; frame < 2; ++frame) window().frame(app.theme().background, [&app] { app.frame(); });
    state.SetIterationTime(since(begin));
  }
  state.counters["file_MB"] = static_cast<double>(std::filesystem::file_size(large_run())) / 1e6;
}
BENCHMARK_CAPTURE(first_picture, memory, From::memory)
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(journey, disk, From::disk)->UseManualTime()->Iterations(400)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(first_picture, disk, From::disk)
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lockstep::viewer

BENCHMARK_MAIN();

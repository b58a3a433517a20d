// The six views of a made-up training job as pictures of 1920 × 1080, beside those that were looked at.
//
//   LOCKSTEP_UPDATE_GOLDEN=1 ctest --preset release -R GoldenViews     writes them anew: look at them
//
// A picture that differs is left, with the difference marked, in the test's working folder.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "viewer/golden/compare_pictures.h"
#include "viewer/testing/png_reader.h"
#include "viewer/testing/scene_of.h"
#include "viewer/testing/training_job.h"
#include "viewer/widgets/fonts.h"
#include "viewer/window/run.h"

namespace lockstep::viewer {
namespace {

namespace fs = std::filesystem;

constexpr Nanoseconds kMillisecond = 1'000'000;

struct GoldenView {
  const char* name;
  void (*arrange)(const Scene& scene, ShowOptions& options);
  bool dark = true;
};

// Written out by what a person would do: arguments of `lockstep view`.
const GoldenView kViews[] = {
    {"timeline", [](const Scene&, ShowOptions& options) { options.panel = "Findings"; }},
    {"timeline-light", [](const Scene&, ShowOptions& options) { options.panel = "Findings"; }, false},
    {"heat-map", [](const Scene&, ShowOptions& options) { options.panel = "Steps"; }},
    {"collective",
     [](const Scene& scene, ShowOptions& options) {
       options.collective = scene.costliest().front();
       options.panel = "Collectives";
     }},
    {"imbalance", [](const Scene&, ShowOptions& options) { options.panel = "Imbalance"; }},
    {"range",
     [](const Scene& scene, ShowOptions& options) {
       options.panel = "Range";
       const Nanoseconds origin = scene.timeline().origin;
       options.measured = TimeRange{origin + 250 * kMillisecond, origin + 300 * kMillisecond};
     }},
    {"search",
     [](const Scene&, ShowOptions& options) {
       options.search = "/backward layer 1[01]/ longer=2.5ms";
       options.panel = "Search";
     }},
    {"diff", [](const Scene&, ShowOptions& options) { options.panel = "Diff"; }},
};

class GoldenViews : public testing::TestWithParam<GoldenView> {};

Picture read_golden(const fs::path& path, std::string& error) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    error = path.string() + " is not there: run with LOCKSTEP_UPDATE_GOLDEN=1 to write it";
    return {};
  }
  ReadPicture read = read_png({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
  if (!read.error.empty()) error = path.string() + ": " + read.error;
  return std::move(read.picture);
}

bool has_the_font() {
  for (const fs::path& folder : font_folders())
    if (fs::exists(folder / "DejaVuSans.ttf")) return true;
  return false;
}

TEST_P(GoldenViews, LooksAsItDid) {
  if (!has_the_font()) GTEST_SKIP() << "no DejaVu Sans here: texts would differ";
  // Always a private display: with a graphics card's driver lines are smoothed in its own way.
  ::unsetenv("DISPLAY");
  ::unsetenv("WAYLAND_DISPLAY");
  const GoldenView& view = GetParam();
  const auto scene = scene_of(training_job());
  ShowOptions options;
  options.width = 1920;
  options.height = 1080;
  options.scale = 1;
  options.dark = view.dark;
  view.arrange(*scene, options);
  std::unique_ptr<Scene> other;
  if (options.panel == "Diff") {
    other = scene_of(training_job({.slow_rank = -1, .path = "runs/gpt-small-fixed"}));
    options.other = other.get();
  }
  const Result<Shot> shot = take_picture(*scene, options);
  if (!shot.ok()) GTEST_SKIP() << shot.error().message;

  const fs::path golden = fs::path(LOCKSTEP_SOURCE_DIR) / "viewer/golden" / fmt::format("{}.png", view.name);
  if (std::getenv("LOCKSTEP_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(write_png(golden, shot.value().picture).ok());
    GTEST_SKIP() << golden << " written: look at it";
  }
  std::string error;
  const Picture expected = read_golden(golden, error);
  ASSERT_EQ(error, "");
  const PictureDifference difference = compare(shot.value().picture, expected);
  if (difference.alike) return;
  const std::string seen = fmt::format("golden-{}.png", view.name);
  const std::string marked = fmt::format("golden-{}-difference.png", view.name);
  if (!write_png(seen, shot.value().picture).ok() ||
      (!difference.marked.rgb.empty() && !write_png(marked, difference.marked).ok()))
    ADD_FAILURE() << "the pictures could not be left in " << fs::current_path();
  ADD_FAILURE() << fmt::format(
      "{}: {:.2f} % of its blocks differ, by at most {} of 255; see {} and {} in {}. Where the change is "
      "meant: LOCKSTEP_UPDATE_GOLDEN=1",
      view.name, 100 * difference.share, difference.greatest, seen, marked, fs::current_path().string());
}

INSTANTIATE_TEST_SUITE_P(AllViews, GoldenViews, testing::ValuesIn(kViews), [](const auto& info) {
  std::string name = info.param.name;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace lockstep::viewer

// Views of a made-up training job as pictures of 1920 × 1080, beside those that were looked at. What is on
// one says NAME.json beside it (golden_view.h).
//
//   LOCKSTEP_UPDATE_GOLDEN=1 ctest --preset release -R GoldenViews     writes them anew: look at them
//
// A picture that differs is left, with the difference marked, in the test's working folder.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "viewer/golden/compare_pictures.h"
#include "viewer/golden/golden_view.h"
#include "viewer/testing/png_reader.h"
#include "viewer/testing/scene_of.h"
#include "viewer/testing/training_job.h"
#include "viewer/widgets/fonts.h"
#include "viewer/window/run.h"

namespace lockstep::viewer {
namespace {

namespace fs = std::filesystem;

class GoldenViews : public testing::TestWithParam<std::string> {};

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
  const auto scene = scene_of(training_job());
  const GoldenView view = golden_view(GetParam(), *scene);
  ShowOptions options;
  options.width = 1920;
  options.height = 1080;
  options.scale = 1;
  options.dark = view.dark;
  options.left_out = view.left_out;
  Runs runs{scene.get()};
  std::unique_ptr<Scene> other;
  if (view.flags.compared) {
    other = scene_of(training_job({.slow_rank = -1, .path = "runs/gpt-small-fixed"}));
    options.other = other.get();
    runs.push_back(other.get());
  }
  UnderstoodFlags flags = understand(view.flags, runs);
  for (const FlagError& wrong : flags.wrong) ADD_FAILURE() << wrong.message;
  static_cast<FirstLook&>(options) = std::move(flags.look);
  const Result<Shot> shot = take_picture(*scene, options);
  if (!shot.ok()) GTEST_SKIP() << shot.error().message;

  const fs::path golden = fs::path(LOCKSTEP_SOURCE_DIR) / "viewer/golden" / fmt::format("{}.png", GetParam());
  if (std::getenv("LOCKSTEP_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(write_png(golden, shot.value().picture).ok());
    GTEST_SKIP() << golden << " written: look at it";
  }
  std::string error;
  const Picture expected = read_golden(golden, error);
  ASSERT_EQ(error, "");
  const PictureDifference difference = compare(shot.value().picture, expected);
  if (difference.alike) return;
  const std::string seen = fmt::format("golden-{}.png", GetParam());
  const std::string marked = fmt::format("golden-{}-difference.png", GetParam());
  if (!write_png(seen, shot.value().picture).ok() ||
      (!difference.marked.rgb.empty() && !write_png(marked, difference.marked).ok()))
    ADD_FAILURE() << "the pictures could not be left in " << fs::current_path();
  ADD_FAILURE() << fmt::format(
      "{}: {:.2f} % of its blocks differ, by at most {} of 255; see {} and {} in {}. Where the change is "
      "meant: LOCKSTEP_UPDATE_GOLDEN=1",
      GetParam(), 100 * difference.share, difference.greatest, seen, marked, fs::current_path().string());
}

TEST(GoldenPictures, AreOfViewsThatAreDescribed) {
  for (const auto& entry : fs::directory_iterator(fs::path(LOCKSTEP_SOURCE_DIR) / "viewer/golden")) {
    if (entry.path().extension() != ".png") continue;
    EXPECT_THAT(golden_views(), testing::Contains(entry.path().stem().string()));
  }
}

INSTANTIATE_TEST_SUITE_P(AllViews, GoldenViews, testing::ValuesIn(golden_views()), [](const auto& info) {
  std::string name = info.param;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace lockstep::viewer

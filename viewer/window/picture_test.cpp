// Whole pictures, drawn by OpenGL: the colours at places that the layout knows.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "viewer/testing/png_reader.h"
#include "viewer/testing/view_fixture.h"
#include "viewer/window/app.h"
#include "viewer/window/run.h"
#include "viewer/window/virtual_display.h"
#include "viewer/window/window.h"

namespace lockstep::viewer {
namespace {

using analyzer::Cause;

ShowOptions options_of(int width, int height, double scale = 1) {
  ShowOptions options;
  options.width = width;
  options.height = height;
  options.scale = scale;
  return options;
}

// Places one frame as the picture shows it.
struct Placed {
  Placed(const Scene& scene, const Shot& shot)
      : state(shot.state),
        layout(lay_out(scene.timeline(), state.expansion, shot.sizes)),
        regions(divide(shot.timeline, shot.sizes, scene.timeline().ranks.size())),
        axis{state.view, regions.lanes.left, regions.lanes.width()} {}

  // Two pixels below the top of a rank's row: above its label.
  int y(const Scene& scene, std::size_t rank, LaneRole role) const {
    const RankPlace& place = layout.ranks[rank];
    for (std::uint32_t i = 0; i < place.row_count; ++i) {
      const RowPlace& row = layout.rows[place.first_row + i];
      if (scene.timeline().ranks[rank].lanes[row.lane].role != role) continue;
      return static_cast<int>(regions.lanes.top) + place.y + row.y + 2;
    }
    return -1;
  }
  int x(Nanoseconds time) const { return static_cast<int>(axis.x(time)); }

  TimelineState state;
  Layout layout;
  Regions regions;
  TimeAxis axis;
};

void expect_causes(const Scene& scene, const Shot& shot, const Theme& theme) {
  const Placed placed(scene, shot);
  int checked = 0;
  for (std::size_t rank = 0; rank < scene.timeline().ranks.size(); ++rank) {
    const int y = placed.y(scene, rank, LaneRole::causes);
    if (y >= static_cast<int>(placed.regions.lanes.bottom)) continue;
    for (const analyzer::CauseSegment& segment : scene.segments(rank)) {
      const int left = placed.x(segment.begin);
      const int right = placed.x(segment.end);
      if (right - left < 6) continue;
      const Color seen = pixel(shot.picture, (left + right) / 2, y);
      const Color color = cause_color(theme, segment.cause);
      ++checked;
      if (!is_waiting(segment.cause)) {
        EXPECT_EQ(seen, color) << "rank " << rank << " at " << segment.begin << " "
                               << analyzer::to_string(segment.cause);
        continue;
      }
      // Hatched: somewhere between its colour and the ground, but never the ground itself.
      EXPECT_NE(seen, theme.stripe);
      EXPECT_GT(seen.r, seen.g) << "warm";
    }
  }
  EXPECT_GE(checked, 10);
}

TEST(Picture, HasEachCauseAtItsTime) {
  const auto scene = View::load(synthetic_job());
  const Result<Shot> shot = take_picture(*scene, options_of(1400, 800));
  if (!shot.ok()) GTEST_SKIP() << shot.error().message;
  ASSERT_EQ(shot.value().picture.width, 1400);
  ASSERT_EQ(shot.value().picture.height, 800);
  expect_causes(*scene, shot.value(), dark_theme());
}

TEST(Picture, HasThemToo_LightAndLarge) {
  const auto scene = View::load(synthetic_job());
  ShowOptions options = options_of(2400, 1400, 2);
  options.dark = false;
  const Result<Shot> shot = take_picture(*scene, options);
  if (!shot.ok()) GTEST_SKIP() << shot.error().message;
  EXPECT_EQ(shot.value().sizes.gutter, 2 * Sizes{}.gutter);
  expect_causes(*scene, shot.value(), light_theme());
}

// Lanes have most of the width, and what they show is there.
TEST(Picture, OfSmallWindowsIsOfTheTimeline) {
  const auto scene = View::load(synthetic_job());
  for (const auto& [width, height] : {std::pair{640, 400}, std::pair{320, 200}}) {
    const Result<Shot> shot = take_picture(*scene, options_of(width, height));
    if (!shot.ok()) GTEST_SKIP() << shot.error().message;
    const Placed placed(*scene, shot.value());
    EXPECT_GT(placed.regions.lanes.width(), static_cast<float>(width) / 2);
    EXPECT_GT(placed.regions.lanes.height(), static_cast<float>(height) / 5);
    expect_causes(*scene, shot.value(), dark_theme());
  }
}

// Of the environment, until it is destroyed; null: not set.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) const {
    if (value == nullptr)
      ::unsetenv(name_);
    else
      ::setenv(name_, value, 1);
  }
  const char* name_;
  std::optional<std::string> before_;
};

// A window that nobody touches sleeps, also where another tab hides the timeline.
TEST(Picture, AHiddenTimelineHasNothingToDo) {
  const auto scene = View::load(synthetic_job());
  const auto display = VirtualDisplay::start(640, 480);
  if (!display.ok()) GTEST_SKIP() << display.error().message;
  const Variable x11("DISPLAY", display.value().name().c_str()), wayland("WAYLAND_DISPLAY", nullptr);
  const auto window = Window::open({"small", 320, 200, true});
  if (!window.ok()) GTEST_SKIP() << window.error().message;
  App app(*scene, dark_theme(), 1);
  app.show_panel("Findings");
  constexpr int kFrames = 30;
  for (int frame = 0; frame < kFrames; ++frame) {
    window.value()->handle_events(false);
    window.value()->frame(app.theme().background, [&app] { app.frame(); });
  }
  EXPECT_FALSE(app.busy());
  EXPECT_FALSE(app.pane().hovered());
}

TEST(Picture, WaitAndTransferOfALitCollectiveStandApart) {
  const auto scene = View::load(synthetic_job());
  ShowOptions options = options_of(1400, 800);
  options.range = TimeRange{0, kSyntheticStep};
  options.collective = 0;
  const Result<Shot> shot = take_picture(*scene, options);
  if (!shot.ok()) GTEST_SKIP() << shot.error().message;
  const Placed placed(*scene, shot.value());
  const Theme theme = dark_theme();
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const int y = placed.y(*scene, rank, LaneRole::communication);
    EXPECT_EQ(pixel(shot.value().picture, placed.x(990), y), cause_color(theme, Cause::transfer)) << rank;
  }
  const Color waiting =
      pixel(shot.value().picture, placed.x(790), placed.y(*scene, 0, LaneRole::communication));
  EXPECT_GT(waiting.r, waiting.b);
  EXPECT_NE(waiting, theme.stripe);
}

TEST(Picture, IsTheSameTwice) {
  const auto scene = View::load(synthetic_job());
  const Result<Shot> one = take_picture(*scene, options_of(800, 500));
  if (!one.ok()) GTEST_SKIP() << one.error().message;
  const Result<Shot> two = take_picture(*scene, options_of(800, 500));
  ASSERT_TRUE(two.ok());
  EXPECT_EQ(one.value().picture.rgb, two.value().picture.rgb);
}

// Whatever a trace holds, there is a picture.
TEST(Picture, OfStrangeRuns) {
  std::vector<analyzer::Job> jobs;
  jobs.push_back(analyzer::Job{});  // nothing at all
  {
    analyzer::Job job;  // one event without length and with a name of 100 kB
    job.ranks.resize(1);
    job.ranks[0].lanes = {{trace::LaneKind::device_stream, 7, std::string(100'000, 'l')}};
    analyzer::Activity activity;
    activity.name = job.strings.intern(std::string(100'000, 'x'));
    job.ranks[0].activities.push_back(activity);
    job.warnings.push_back({"broken", "rank 1: " + std::string(100'000, 'w'), 1});
    jobs.push_back(std::move(job));
  }
  {
    analyzer::Job job;  // many events at one instant, far from any epoch
    job.ranks.resize(1);
    job.ranks[0].lanes = {{trace::LaneKind::device_stream, 7, "s"}};
    analyzer::Activity activity;
    activity.begin = activity.end = (Nanoseconds{1} << 62) - 1;
    activity.name = job.strings.intern("k");
    job.ranks[0].activities.assign(200'000, activity);
    jobs.push_back(std::move(job));
  }
  for (const analyzer::Job& job : jobs) {
    const Result<analyzer::Analysis> analysis = analyzer::analyze(job);
    if (analysis.ok()) analyzer::expect_invariants(analysis.value().report);
    const auto scene = scene_of(job, analysis.ok() ? analysis.value() : analyzer::Analysis{});
    const Result<Shot> shot = take_picture(*scene, options_of(640, 400));
    if (!shot.ok()) GTEST_SKIP() << shot.error().message;
    EXPECT_EQ(shot.value().picture.rgb.size(), 3u * 640 * 400);
  }
}

}  // namespace
}  // namespace lockstep::viewer

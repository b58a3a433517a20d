// The step bar, on a canvas that records.
#include <gtest/gtest.h>

#include <array>

#include "viewer/testing/view_fixture.h"
#include "viewer/timeline/draw.h"

namespace lockstep::viewer {
namespace {

using analyzer::Cause;
using Shape = RecordingCanvas::Shape;

TEST(DrawCauses, TheStepBarHasTheCausesOfTheAnalysis) {
  View view;
  view.show(0, kSyntheticStep);
  const RecordingCanvas canvas = view.draw();
  const auto bar = boxes_in(view, canvas, 0, LaneRole::causes);
  const auto segments = view.scene->segments(0);
  std::size_t shown = 0;
  for (const analyzer::CauseSegment& segment : segments) {
    if (segment.begin >= kSyntheticStep) continue;
    ASSERT_LT(shown, bar.size());
    EXPECT_NEAR(bar[shown].rect.left, std::max(view.x(segment.begin), view.regions.lanes.left), 1);
    EXPECT_EQ(with_alpha(bar[shown].color, 1), cause_color(view.theme, segment.cause));
    ++shown;
  }
  EXPECT_EQ(shown, bar.size());
}

TEST(DrawCauses, ColumnsOfAFoldedStepBarAreInProportion) {
  SyntheticOptions options;
  options.late = {0, 400};
  options.steps = 4'000;
  View view(options);
  const RecordingCanvas canvas = view.draw();
  const Rect area = view.area(0, LaneRole::causes);
  std::array<double, analyzer::kCauseCount> drawn{};
  double all = 0;
  for (const auto& box : boxes_in(view, canvas, 0, LaneRole::causes)) {
    const double size = static_cast<double>(box.rect.width()) * box.rect.height();
    all += size;
    for (std::size_t cause = 0; cause < drawn.size(); ++cause) {
      if (box.color == cause_color(view.theme, static_cast<Cause>(cause))) drawn[cause] += size;
    }
  }
  const analyzer::Partition& partition = view.scene->rank_report(0)->measures.partition;
  EXPECT_GT(all, 0.9 * area.width() * area.height() / 1.05);
  for (std::size_t cause = 0; cause < drawn.size(); ++cause) {
    EXPECT_NEAR(drawn[cause] / all,
                static_cast<double>(partition.ns[cause]) / static_cast<double>(partition.total()), 0.05)
        << analyzer::to_string(static_cast<Cause>(cause));
  }
}

// A pause of a twentieth of a pixel between two long kernels is no pixel high and wide.
TEST(DrawCauses, ACauseShorterThanAPixelTakesItsShareOfIt) {
  analyzer::Job job;
  job.ranks.resize(1);
  job.ranks[0].lanes = {{trace::LaneKind::device_stream, 7, "stream 7"}};
  for (const Nanoseconds begin : {0, 1'000'100}) {
    analyzer::Activity activity;
    activity.begin = begin;
    activity.end = begin + 1'000'000;
    job.ranks[0].activities.push_back(activity);
  }
  View view(std::move(job));
  const auto drawn = [&view] {
    double size = 0;
    const RecordingCanvas canvas = view.draw();
    for (const auto& box : boxes_in(view, canvas, 0, LaneRole::causes))
      if (with_alpha(box.color, 1) != cause_color(view.theme, Cause::compute))
        size += static_cast<double>(box.rect.width()) * box.rect.height();
    return size / view.area(0, LaneRole::causes).height();
  };
  view.show(0, 2'000'100);
  EXPECT_LT(drawn(), 0.2) << "pixels of the bar's whole height";
  view.show(999'950, 1'000'150);
  EXPECT_NEAR(drawn(), view.regions.lanes.width() / 2, 2);
}

}  // namespace
}  // namespace lockstep::viewer

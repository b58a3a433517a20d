// A run is opened: everything is there.
#include <gmock/gmock.h>

#include "tests/temporary_folder.h"
#include "viewer/journey/journey.h"
#include "viewer/journey/runs.h"
#include "viewer/opening/open_run.h"
#include "viewer/panels/panel_list.h"
#include "viewer/testing/scene_of.h"
#include "viewer/testing/synthetic_job.h"

namespace lockstep::viewer::journey {
namespace {

TEST_F(Journey, OpensARunFromItsFiles) {
  const test::TemporaryFolder folder;
  write_run(folder.path());
  const auto scene = open_run({folder.path().string()}).value();
  ASSERT_EQ(scene->timeline().ranks.size(), static_cast<std::size_t>(kRunRanks));
  open(*scene);
  play([&](User& user) {
    for (const char* const panel : {"Timeline", "Overview", "Details", "Steps"})
      EXPECT_TRUE(user.sees(panel)) << panel << " is in front at first";
    for (const Panel* const panel : panels_for(false)) {
      user.show(panel->title);
      EXPECT_TRUE(user.sees(panel->title)) << panel->title;
    }
    user.show("Overview");
    EXPECT_TRUE(user.sees("Overview"));
    EXPECT_FALSE(user.sees("Findings")) << "behind the overview";
    EXPECT_FALSE(user.sees("Timeline B"));
  });
}

TEST_F(Journey, EveryRankIsOnTheFirstScreen) {
  const auto scene = scene_of(synthetic_job());
  open(*scene);
  play([&](User& user) {
    const Places places = user.places();
    for (std::size_t rank = 0; rank < 4; ++rank) {
      const Rect bar = places.row(rank, LaneRole::causes);
      EXPECT_GE(bar.top, places.lanes().top);
      EXPECT_LE(bar.bottom, places.lanes().bottom) << "rank " << rank;
    }
    const TimeRange all = scene->timeline().focus;
    EXPECT_GE(places.x(all.begin), places.lanes().left);
    EXPECT_LE(places.x(all.end), places.lanes().right);
    EXPECT_GT(places.x(all.end) - places.x(all.begin), 0.9F * places.lanes().width());
    // What is drawn is what stands there: pointing at a rank's compute finds that rank's compute.
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      user.point_to(places.point(rank, LaneRole::compute, 300));
      ASSERT_TRUE(user.state().hovered);
      EXPECT_EQ(user.state().hovered->rank, rank);
      EXPECT_THAT(user.drawn_text(), testing::HasSubstr("matmul"));
    }
  });
}

}  // namespace
}  // namespace lockstep::viewer::journey

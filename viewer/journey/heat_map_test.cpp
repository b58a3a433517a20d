// The map of ranks and steps: a click goes there.
#include <gmock/gmock.h>

#include "tests/temporary_folder.h"
#include "viewer/journey/journey.h"
#include "viewer/journey/runs.h"
#include "viewer/opening/open_run.h"

namespace lockstep::viewer::journey {
namespace {

TEST_F(Journey, AClickOnTheHeatMapGoesToRankAndStep) {
  const test::TemporaryFolder folder;
  write_run(folder.path());
  const auto scene = open_run({folder.path().string()}).value();
  open(*scene);
  const HeatMap map = make_heat_map(*scene, StepQuantity::barrier_wait);
  ASSERT_EQ(map.steps.size(), static_cast<std::size_t>(kRunSteps));
  play([&](User& user) {
    for (const HeatCell cell : {HeatCell{1, 3}, HeatCell{3, 0}, HeatCell{0, 5}}) {
      const Rect area = HeatMapPlaces(map, user.app().steps().map_area()).cell(cell);
      const Point at{(area.left + area.right) / 2, (area.top + area.bottom) / 2};
      user.point_to(at);
      EXPECT_THAT(user.drawn_text(), testing::HasSubstr("rank " + std::to_string(map.ranks[cell.rank]) +
                                                        ", step " + std::to_string(map.steps[cell.step])));
      user.click(at);
      EXPECT_EQ(user.app().steps().selected(), cell);
      EXPECT_EQ(user.app().steps().selected_step(), map.steps[cell.step]);
      const StepSpan& step = scene->timeline().ranks[cell.rank].steps[cell.step];
      ASSERT_EQ(step.number, map.steps[cell.step]);
      const TimeView& view = user.state().view;
      EXPECT_LE(view.begin, step.begin);
      EXPECT_GE(static_cast<double>(view.begin) + view.span, static_cast<double>(step.end));
      EXPECT_LT(view.span, 1.2 * static_cast<double>(step.end - step.begin));
      const Rect bar = user.places().row(cell.rank, LaneRole::causes);
      EXPECT_LE(bar.bottom, user.places().lanes().bottom);
    }
  });
}

TEST_F(Journey, TheHeatMapShowsTheQuantityThatIsChosen) {
  const test::TemporaryFolder folder;
  write_run(folder.path());
  const auto scene = open_run({folder.path().string()}).value();
  open(*scene);
  play([&](User& user) {
    user.engine().SetRef("Steps");
    user.engine().ComboClick("##quantity/compute");
    user.settle();
    EXPECT_EQ(user.app().steps().quantity(), StepQuantity::compute);
    user.engine().ComboClick("##quantity/step time");
    user.settle();
    EXPECT_EQ(user.app().steps().quantity(), StepQuantity::step_time);
  });
}

}  // namespace
}  // namespace lockstep::viewer::journey

#include "viewer/views/arrangement.h"

#include <gtest/gtest.h>

namespace lockstep::viewer {
namespace {

TEST(Arrangement, PanelsTakeNoMoreThanTheWindowHas) {
  EXPECT_EQ(choose_places(1920, 1080, 1), PanelPlaces::around);
  EXPECT_EQ(choose_places(1600, 400, 1), PanelPlaces::right);
  EXPECT_EQ(choose_places(640, 400, 1), PanelPlaces::below);
  EXPECT_EQ(choose_places(640, 1200, 1), PanelPlaces::below);
  EXPECT_EQ(choose_places(320, 200, 1), PanelPlaces::tabs);
  EXPECT_EQ(choose_places(1600, 200, 1), PanelPlaces::tabs);
  EXPECT_EQ(choose_places(640, 400, 1, 2), PanelPlaces::right) << "two timelines need the height";
  EXPECT_EQ(choose_places(640, 1200, 1, 2), PanelPlaces::below);
  // Text of twice the size needs twice the room.
  EXPECT_EQ(choose_places(1280, 800, 2), PanelPlaces::below);
}

const std::vector<LegendEntry> kLegend{{50, 10}, {60, 300}, {70, 20}};

TEST(Arrangement, AHeaderShowsEverythingWhereThereIsRoom) {
  const HeaderContents contents = fit_header(50 + 60 + 70 + 80 + 40, 10, 80, kLegend);
  EXPECT_TRUE(contents.summary);
  EXPECT_EQ(contents.causes, (std::vector<bool>{true, true, true}));
}

TEST(Arrangement, TheSummaryGoesFirstThenWhatTakesLeastTime) {
  HeaderContents contents = fit_header(50 + 60 + 70 + 80 + 39, 10, 80, kLegend);
  EXPECT_FALSE(contents.summary);
  EXPECT_EQ(contents.causes, (std::vector<bool>{true, true, true}));
  contents = fit_header(150, 10, 80, kLegend);
  EXPECT_FALSE(contents.summary) << "not in place of a cause";
  EXPECT_EQ(contents.causes, (std::vector<bool>{false, true, true}));
  contents = fit_header(75, 10, 20, kLegend);
  EXPECT_EQ(contents.causes, (std::vector<bool>{false, true, false}));
  contents = fit_header(65, 10, 20, kLegend);
  EXPECT_EQ(contents.causes, (std::vector<bool>{false, false, false}))
      << "one that takes less is not shown in its stead";
}

TEST(Arrangement, WithoutCausesTheSummaryIsShownAlone) {
  EXPECT_TRUE(fit_header(100, 10, 80, {}).summary);
  EXPECT_FALSE(fit_header(80, 10, 80, {}).summary);
}

}  // namespace
}  // namespace lockstep::viewer

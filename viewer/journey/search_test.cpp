// Finding events by typing.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/temporary_folder.h"
#include "viewer/journey/journey.h"
#include "viewer/journey/runs.h"
#include "viewer/opening/open_run.h"

namespace lockstep::viewer::journey {
namespace {

class SearchJourney : public Journey {
 protected:
  SearchJourney() {
    write_run(folder_.path());
    scene_ = open_run({folder_.path().string()}).value();
  }
  const Search& search() { return app().search().search(); }
  // The hit is selected, and stands on the screen.
  void expect_at(User& user, std::size_t hit) {
    ASSERT_EQ(app().search().current(), hit);
    ASSERT_EQ(user.state().selected, search().hits()[hit].item);
    const Places places = user.places();
    const Point at = places.point(search().hits()[hit].item);
    EXPECT_TRUE(places.lanes().contains(at.x, at.y)) << "hit " << hit;
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<Scene> scene_;
};

TEST_F(SearchJourney, SlashTypesAndEnterStepsThroughTheHits) {
  open(*scene_);
  play([this](User& user) {
    user.press(ImGuiKey_Slash, '/');
    EXPECT_TRUE(user.sees("Search"));
    user.type("gemm");
    EXPECT_EQ(search().text(), "gemm") << "without the slash that opened it";
    const std::size_t hits = static_cast<std::size_t>(kRunRanks) * kRunSteps;
    ASSERT_EQ(search().hits().size(), hits);
    EXPECT_THAT(user.drawn_text(), testing::HasSubstr("24 hits"));
    const Item first = app().search().search().hits()[0].item;
    const RankTracks& tracks = scene_->timeline().ranks[first.rank];
    EXPECT_THAT(user.drawn_text(),
                testing::HasSubstr(fmt::format("| {} | {} |", tracks.rank, tracks.lanes[first.lane].label)));
    EXPECT_FALSE(user.state().selected) << "typing moves nothing";
    for (const std::size_t wanted : {0, 1, 2}) {
      user.press(ImGuiKey_Enter);
      expect_at(user, wanted);
    }
    EXPECT_THAT(user.drawn_text(), testing::HasSubstr("3 of 24 hits"));
    user.press(ImGuiMod_Shift | ImGuiKey_Enter);
    expect_at(user, 1);
    user.press(ImGuiMod_Shift | ImGuiKey_Enter);
    user.press(ImGuiMod_Shift | ImGuiKey_Enter);
    expect_at(user, hits - 1);
    user.press(ImGuiKey_Enter);
    expect_at(user, 0);
    // More words: a new search, from its first hit on.
    user.type(" rank=3");
    EXPECT_EQ(search().hits().size(), static_cast<std::size_t>(kRunSteps));
    user.press(ImGuiKey_Enter);
    expect_at(user, 0);
  });
}

TEST_F(SearchJourney, NStepsOnFromTheTimeline) {
  open(*scene_);
  play([this](User& user) {
    user.press(ImGuiKey_Slash, '/');
    user.type("layer_norm");
    user.press(ImGuiKey_N, 'n');
    EXPECT_EQ(search().text(), "layer_normn") << "in the field it is a letter";
    user.press(ImGuiKey_Backspace);
    user.press(ImGuiKey_Enter);
    expect_at(user, 0);
    user.press(ImGuiKey_Escape);
    EXPECT_EQ(user.state().selected, search().hits()[0].item) << "Escape leaves the field, no more";
    user.point_to(user.places().on_lanes(0.5F, 0.9F));
    user.press(ImGuiKey_N, 'n');
    expect_at(user, 1);
    EXPECT_EQ(search().text(), "layer_norm");
    user.press(ImGuiMod_Shift | ImGuiKey_N);
    expect_at(user, 0);
    user.press(ImGuiMod_Shift | ImGuiKey_N);
    expect_at(user, search().hits().size() - 1);
  });
}

TEST_F(SearchJourney, WhatIsWrongIsSaidAndAClickGoesToTheHit) {
  open(*scene_);
  play([this](User& user) {
    user.press(ImGuiKey_Slash, '/');
    user.type("/gem(/");
    EXPECT_FALSE(search().error().empty());
    user.press(ImGuiKey_Enter);
    EXPECT_FALSE(user.state().selected);
    user.engine().KeyCharsReplace("class=collective");
    user.settle();
    EXPECT_TRUE(search().error().empty());
    ASSERT_GT(search().hits().size(), 4U);
    user.engine().ItemClick("//Search/hits/$$4/##hit");
    user.settle();
    expect_at(user, 4);
    user.engine().ItemClick("//Search/next");
    user.settle();
    expect_at(user, 5);
    user.engine().ItemClick("//Search/previous");
    user.settle();
    expect_at(user, 4);
  });
}

}  // namespace
}  // namespace lockstep::viewer::journey

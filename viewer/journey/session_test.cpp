// What is kept of a look at a run, and found again at the next.
#include <gmock/gmock.h>

#include "tests/temporary_folder.h"
#include "viewer/journey/journey.h"
#include "viewer/journey/runs.h"
#include "viewer/opening/open_run.h"
#include "viewer/testing/scene_of.h"
#include "viewer/testing/synthetic_job.h"
#include "viewer/testing/training_job.h"

namespace lockstep::viewer::journey {
namespace {

class Kept : public Journey {
 protected:
  Kept() {
    write_run(folder_.path() / "run");
    scene_ = open_run({folder_ / "run"}).value();
  }
  test::TemporaryFolder folder_;
  std::unique_ptr<Scene> scene_;
};

TEST_F(Kept, ViewMarksNotesAndClosedRanksAreThereAgain) {
  const std::string file = folder_ / "session";
  TimeView view;
  std::vector<Nanoseconds> marks;
  std::optional<TimeRange> measured;
  std::optional<Item> selected;
  open(*scene_);
  play([&](User& user) {
    // Two marks; a third one that is taken away again.
    for (const float across : {0.7F, 0.2F, 0.5F}) {
      user.point_to(user.places().on_lanes(across, 0.4F));
      if (across != 0.5F) marks.push_back(user.places().time(user.places().on_lanes(across, 0.4F).x));
      user.press(ImGuiKey_M, 'm');
    }
    user.press(ImGuiKey_M, 'm');
    std::sort(marks.begin(), marks.end());
    // Notes, and what is typed there is no command.
    user.show("Notes");
    const bool dark = user.app().theme().dark;
    user.engine().ItemClick("//Notes/##notes");
    user.type("Rank 2 waits; then");
    user.press(ImGuiKey_T, 't');
    EXPECT_EQ(user.app().theme().dark, dark);
    user.engine().ItemClick("//Notes/$$1/##note");
    user.type("here");
    // A range that is measured, something searched for, and the second hit selected.
    user.drag(user.places().on_lanes(0.3F, 0.4F), user.places().on_lanes(0.6F, 0.4F), ImGuiMod_Shift);
    measured = user.state().measured;
    ASSERT_TRUE(measured);
    user.type("/");
    user.type("layer_norm");
    user.press(ImGuiKey_Enter);
    user.press(ImGuiKey_Enter);
    user.press(ImGuiKey_Escape);
    selected = user.state().selected;
    ASSERT_TRUE(selected);
    // A rank closed by its name, and a closer look.
    user.click(user.places().name_of(1));
    EXPECT_FALSE(user.state().expansion.rank_open(1));
    user.point_to(user.places().on_lanes(0.4F, 0.4F));
    user.wheel(3);
    view = user.state().view;
  });
  ASSERT_TRUE(write_session(file, app().session()).ok());
  close();

  const Result<Session> kept = read_session(file);
  ASSERT_TRUE(kept.ok());
  open(*scene_, nullptr, kept.value());
  play([&](User& user) {
    EXPECT_NEAR(static_cast<double>(user.state().view.begin - view.begin), 0, 2);
    EXPECT_NEAR(user.state().view.span, view.span, 2);
    for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_EQ(user.state().expansion.rank_open(rank), rank != 1);
    ASSERT_EQ(user.state().marks.size(), marks.size());
    for (std::size_t i = 0; i < marks.size(); ++i) EXPECT_EQ(user.state().marks[i].time, marks[i]);
    EXPECT_EQ(user.state().marks[0].note, "");
    EXPECT_EQ(user.state().marks[1].note, "here");
    EXPECT_EQ(user.state().notes, "Rank 2 waits; thent");
    ASSERT_TRUE(user.state().measured);
    EXPECT_EQ(user.state().measured->begin, measured->begin);
    EXPECT_EQ(user.state().measured->end, measured->end);
    EXPECT_EQ(user.state().selected, selected);
    user.show("Search");
    EXPECT_THAT(user.drawn_text(), testing::HasSubstr("24 hits"));
    user.show("Notes");
    EXPECT_THAT(user.drawn_text(),
                testing::AllOf(testing::HasSubstr("Rank 2 waits; thent"), testing::HasSubstr("here")));
    // A mark's button goes to it.
    user.engine().ItemClick("//Notes/$$1/go");
    user.settle();
    EXPECT_NEAR(user.places().x(marks[1]), (user.places().lanes().left + user.places().lanes().right) / 2,
                30);
  });
  // Once more without touching anything: nothing creeps.
  ASSERT_TRUE(write_session(folder_ / "first", app().session()).ok());
  const Session first = read_session(folder_ / "first").value();
  open(*scene_, nullptr, first);
  play([](User&) {});
  ASSERT_TRUE(write_session(folder_ / "second", app().session()).ok());
  EXPECT_EQ(test::read_whole_file(folder_ / "first"), test::read_whole_file(folder_ / "second"));
}

TEST_F(Kept, CountersAndHostRangesAreOpenAsTheyWere) {
  scene_ = scene_of(training_job());  // which has counters
  bool hosts = false;
  open(*scene_);
  play([&](User& user) {
    user.press(ImGuiKey_G, 'g');
    EXPECT_EQ(user.state().expansion.wanted(LaneRole::counter), true);
    EXPECT_FALSE(user.state().expansion.wanted(LaneRole::host)) << "as they fit";
    user.press(ImGuiKey_H, 'h');
    hosts = user.state().expansion.wanted(LaneRole::host).value();
  });
  const std::string file = folder_ / "session";
  ASSERT_TRUE(write_session(file, app().session()).ok());
  open(*scene_, nullptr, read_session(file).value());
  play([&](User& user) {
    const std::vector<RankTracks>& ranks = scene_->timeline().ranks;
    int lanes = 0;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
      for (std::size_t lane = 0; lane < ranks[rank].lanes.size(); ++lane) {
        const LaneRole role = ranks[rank].lanes[lane].role;
        if (role != LaneRole::host && role != LaneRole::counter) continue;
        ++lanes;
        EXPECT_EQ(user.state().expansion.lane_open(rank, lane), role == LaneRole::counter || hosts);
      }
    EXPECT_GT(lanes, 0);
    EXPECT_EQ(user.state().expansion.wanted(LaneRole::counter), true) << "and kept again";
  });
}

// What was selected in an unfolded thread is seen again, and not one thread more.
TEST_F(Kept, TheSelectionsThreadIsUnfolded) {
  SyntheticOptions many;  // for whose threads there is no room
  many.late.assign(40, 0);
  scene_ = scene_of(synthetic_job(many));
  const auto host_lane = [this](std::uint32_t rank) {
    const std::vector<TrackLane>& lanes = scene_->timeline().ranks[rank].lanes;
    const auto found = std::find_if(lanes.begin(), lanes.end(),
                                    [](const TrackLane& lane) { return lane.role == LaneRole::host; });
    EXPECT_NE(found, lanes.end());
    return static_cast<std::uint32_t>(found - lanes.begin());
  };
  const Item item{1, host_lane(1), 0, 2};
  std::optional<TimeView> view;
  open(*scene_);
  play([&](User& user) {
    EXPECT_FALSE(user.state().expansion.lane_open(1, item.lane));
    user.app().pane().reveal(item);
    user.settle();
    EXPECT_TRUE(user.state().expansion.lane_open(1, item.lane));
    view = user.state().view;
  });
  const Session kept = app().session();
  open(*scene_, nullptr, kept);
  play([&](User& user) {
    EXPECT_EQ(user.state().selected, item);
    EXPECT_TRUE(user.state().expansion.lane_open(1, item.lane));
    EXPECT_FALSE(user.state().expansion.lane_open(0, host_lane(0)));
    EXPECT_NEAR(user.state().view.span, view->span, 2) << "nothing moves";
  });
}

}  // namespace
}  // namespace lockstep::viewer::journey

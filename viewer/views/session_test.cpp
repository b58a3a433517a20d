#include "viewer/views/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/temporary_folder.h"
#include "viewer/testing/scene_of.h"
#include "viewer/testing/synthetic_job.h"

namespace lockstep::viewer {
namespace {

using testing::HasSubstr;

TEST(Session, ComesBackAsItWas) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "run.lockstep-view.json";
  const auto scene = scene_of(synthetic_job({.begin = 1'000'000}));
  TimelineState state(scene->timeline());
  state.view = fit({1'000'500, 1'001'500}, 0);
  state.scroll = 40;
  state.marks = {{1'000'700, "here"}, {1'001'000, "µ …"}};
  state.notes = "rank 2\nis late";
  state.selected = Item{2, 1, 0, 1};
  state.measured = TimeRange{1'000'200, 1'000'900};
  state.expansion.toggle_rank(1);
  state.expansion.toggle_hosts(scene->timeline());
  state.order.by = OrderBy::group;
  state.order.group_kind = "dp";
  state.order.filter = "0:3 host=a";
  state.order.pinned = {3, 1};
  state.order.closed = {"group=dp 0"};
  Session kept = session_of(state, scene->timeline());
  kept.dark = false;
  kept.search = "gemm rank=2";
  ASSERT_TRUE(write_session(file, kept).ok());

  const Session read = read_session(file).value();
  EXPECT_EQ(read.dark, false);
  EXPECT_EQ(read.search, "gemm rank=2");
  EXPECT_EQ(read.selected, kept.selected);
  TimelineState other(scene->timeline());
  restore(read, scene->timeline(), other);
  EXPECT_EQ(other.view.begin, state.view.begin);
  EXPECT_EQ(other.view.span, state.view.span);
  EXPECT_EQ(other.scroll, 40);
  EXPECT_EQ(other.notes, state.notes);
  EXPECT_EQ(other.order, state.order);
  EXPECT_EQ(other.selected, state.selected);
  ASSERT_TRUE(other.measured.has_value());
  EXPECT_EQ(other.measured->begin, state.measured->begin);
  EXPECT_EQ(other.measured->end, state.measured->end);
  ASSERT_EQ(other.marks.size(), 2u);
  EXPECT_EQ(other.marks[0].time, 1'000'700);
  EXPECT_EQ(other.marks[1].note, "µ …");
  EXPECT_FALSE(other.expansion.rank_open(1));
  EXPECT_TRUE(other.expansion.rank_open(0));
  EXPECT_EQ(other.expansion.wanted(LaneRole::host), true);
  EXPECT_FALSE(other.expansion.wanted(LaneRole::counter).has_value());
}

TEST(Session, NoneIsAFreshLook) {
  const test::TemporaryFolder folder;
  const Session session = read_session(folder / "absent.json").value();
  EXPECT_FALSE(session.view.has_value());
  EXPECT_TRUE(session.marks.empty());
}

// Of a version that knew no order of ranks, and of one that knows more of them.
TEST(Session, OtherVersionsFilesLoad) {
  const test::TemporaryFolder folder;
  const std::string older = folder.write("older.json", R"({"schema": "lockstep.view/1", "scroll": 7})");
  const Session old = read_session(older).value();
  EXPECT_EQ(old.order, RankOrder{});
  EXPECT_FALSE(old.selected || old.measured);
  EXPECT_EQ(old.search, "");
  const std::string newer = folder.write("newer.json", R"({"schema": "lockstep.view/1",
    "order": "moon phase", "pinned_ranks": [2],
    "selected": {"rank": 1, "lane_role": "moons", "lane": 0, "begin_ns": 0, "end_ns": 9}})");
  EXPECT_FALSE(read_session(newer).value().selected.has_value());
  EXPECT_EQ(read_session(newer).value().order.by, OrderBy::rank);
  EXPECT_EQ(read_session(newer).value().order.pinned, std::vector<std::int32_t>{2});
}

TEST(Session, EveryKindOfLaneHasAName) {
  const test::TemporaryFolder folder;
  for (const LaneRole role :
       {LaneRole::causes, LaneRole::compute, LaneRole::communication, LaneRole::host, LaneRole::counter}) {
    Session session;
    session.selected = KeptItem{1, role, 2, 3, 4};
    ASSERT_TRUE(write_session(folder / "session", session).ok());
    EXPECT_EQ(read_session(folder / "session").value().selected, session.selected);
  }
}

TEST(Session, WhatIsNoneOfOursIsLeftAlone) {
  const test::TemporaryFolder folder;
  for (const char* const text :
       {"", "{", "[]", "{\"schema\": \"other\"}", R"({"schema": "lockstep.view/1", "view": "x"})",
        R"({"schema": "lockstep.view/1", "marks": [{"time_ns": "x"}]})",
        R"({"schema": "lockstep.view/1", "scroll": []})", R"({"schema": "lockstep.view/1", "search": 3})",
        R"({"schema": "lockstep.view/1", "selected": {"rank": 1}})",
        R"({"schema": "lockstep.view/1", "measured": [1]})",
        R"({"schema": "lockstep.view/1", "pinned_ranks": "x"})", R"({"schema": 3})"}) {
    const std::string file = folder.write("x.json", text);
    const auto read = read_session(file);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_THAT(read.error().message, HasSubstr("x.json"));
  }
}

// Opening one waits until somebody reads or writes at its other end: nobody does. A test that waits is ended
// by its time limit.
TEST(Session, NamedPipesAreNotWaitedFor) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "session";
  for (const std::string& pipe : {file, file + ".part"}) ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto read = read_session(file);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("session: not a view that was kept"));
  Session session;
  session.notes = "kept";
  ASSERT_TRUE(write_session(file, session).ok());
  EXPECT_EQ(read_session(file).value().notes, "kept");
}

// Files may be edited, and runs change under them.
TEST(Session, WhatDoesNotFitTheRunIsLeftOut) {
  const auto scene = scene_of(synthetic_job());
  TimelineState state(scene->timeline());
  Session session;
  session.view = TimeRange{INT64_MIN, INT64_MAX};
  session.scroll = -5;
  session.closed_ranks = {99};
  session.marks = {{INT64_MAX, "far"}};
  session.selected = KeptItem{99, LaneRole::compute, 0, 0, 1};
  session.measured = TimeRange{INT64_MAX - 1, INT64_MAX};
  restore(session, scene->timeline(), state);
  EXPECT_EQ(state.scroll, 0);
  EXPECT_TRUE(state.expansion.rank_open(0));
  EXPECT_GT(state.view.span, 0);
  EXPECT_FALSE(state.selected.has_value());
  EXPECT_FALSE(state.measured.has_value());
}

// Every item is found again, whatever begins or ends with it, and nothing that is not there.
TEST(Session, TheSelectionIsFoundByWhatItIs) {
  const auto scene = scene_of(synthetic_job({.begin = -500}));
  const Timeline& timeline = scene->timeline();
  TimelineState state(timeline);
  int items = 0;
  for (std::uint32_t rank = 0; rank < timeline.ranks.size(); ++rank) {
    for (std::uint32_t lane = 0; lane < timeline.ranks[rank].lanes.size(); ++lane) {
      const std::vector<Row>& rows = timeline.ranks[rank].lanes[lane].rows;
      for (std::uint32_t row = 0; row < rows.size(); ++row) {
        for (std::uint32_t at = 0; at < rows[row].size(); ++at) {
          state.selected = Item{rank, lane, row, at};
          Session session = session_of(state, timeline);
          EXPECT_EQ(selected_in(session, timeline), state.selected);
          // Another version may have the lane elsewhere.
          session.selected->lane = 77;
          EXPECT_EQ(selected_in(session, timeline), state.selected);
          session.selected->end += 1;
          EXPECT_EQ(selected_in(session, timeline), std::nullopt);
          ++items;
        }
      }
    }
  }
  EXPECT_GT(items, 30);
}

}  // namespace
}  // namespace lockstep::viewer

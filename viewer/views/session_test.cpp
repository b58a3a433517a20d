#include "viewer/views/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  state.expansion.toggle_rank(1);
  state.order.by = OrderBy::group;
  state.order.group_kind = "dp";
  state.order.filter = "0:3 host=a";
  state.order.pinned = {3, 1};
  state.order.closed = {"group=dp 0"};
  Session kept = session_of(state, scene->timeline());
  kept.dark = false;
  ASSERT_TRUE(write_session(file, kept).ok());

  const Session read = read_session(file).value();
  EXPECT_EQ(read.dark, false);
  TimelineState other(scene->timeline());
  restore(read, scene->timeline(), other);
  EXPECT_EQ(other.view.begin, state.view.begin);
  EXPECT_EQ(other.view.span, state.view.span);
  EXPECT_EQ(other.scroll, 40);
  EXPECT_EQ(other.notes, state.notes);
  EXPECT_EQ(other.order, state.order);
  ASSERT_EQ(other.marks.size(), 2u);
  EXPECT_EQ(other.marks[0].time, 1'000'700);
  EXPECT_EQ(other.marks[1].note, "µ …");
  EXPECT_FALSE(other.expansion.rank_open(1));
  EXPECT_TRUE(other.expansion.rank_open(0));
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
  EXPECT_EQ(read_session(older).value().order, RankOrder{});
  const std::string newer = folder.write(
      "newer.json", R"({"schema": "lockstep.view/1", "order": "moon phase", "pinned_ranks": [2]})");
  EXPECT_EQ(read_session(newer).value().order.by, OrderBy::rank);
  EXPECT_EQ(read_session(newer).value().order.pinned, std::vector<std::int32_t>{2});
}

TEST(Session, WhatIsNoneOfOursIsLeftAlone) {
  const test::TemporaryFolder folder;
  for (const char* const text :
       {"", "{", "[]", "{\"schema\": \"other\"}", R"({"schema": "lockstep.view/1", "view": "x"})",
        R"({"schema": "lockstep.view/1", "marks": [{"time_ns": "x"}]})",
        R"({"schema": "lockstep.view/1", "scroll": []})",
        R"({"schema": "lockstep.view/1", "pinned_ranks": "x"})", R"({"schema": 3})"}) {
    const std::string file = folder.write("x.json", text);
    const auto read = read_session(file);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_THAT(read.error().message, HasSubstr("x.json"));
  }
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
  restore(session, scene->timeline(), state);
  EXPECT_EQ(state.scroll, 0);
  EXPECT_TRUE(state.expansion.rank_open(0));
  EXPECT_GT(state.view.span, 0);
}

}  // namespace
}  // namespace lockstep::viewer

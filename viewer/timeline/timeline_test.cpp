#include "viewer/timeline/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/model/check_job.h"
#include "viewer/testing/view_fixture.h"

namespace lockstep::viewer {
namespace {

using testing::ElementsAre;

std::vector<LaneRole> roles(const RankTracks& tracks) {
  std::vector<LaneRole> found;
  for (const TrackLane& lane : tracks.lanes) found.push_back(lane.role);
  return found;
}

TEST(SyntheticJob, KeepsTheModelsPromises) {
  const Status status = analyzer::check_job(synthetic_job());
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
}

TEST(Timeline, HasCausesThenComputeThenCommunicationThenHost) {
  const View view;
  ASSERT_EQ(view.scene->timeline().ranks.size(), 4u);
  for (const RankTracks& rank : view.scene->timeline().ranks) {
    EXPECT_THAT(roles(rank),
                ElementsAre(LaneRole::causes, LaneRole::compute, LaneRole::communication, LaneRole::host));
    EXPECT_EQ(rank.lanes[3].rows.size(), 2u) << "step, and data loading inside it";
  }
}

TEST(Timeline, KeepsTheAnalysisWaitsPerOperation) {
  const View view;
  // Rank 2 is 300 ns late: the others wait 300, 300, 0, 200 in each of three steps.
  const std::uint64_t waits[] = {300, 300, 0, 200};
  for (std::size_t rank = 0; rank < 4; ++rank) {
    EXPECT_THAT(view.scene->timeline().ranks[rank].lanes[2].rows[0].wait,
                ElementsAre(waits[rank], 2 * waits[rank], 3 * waits[rank]));
  }
}

TEST(Timeline, TheFirstViewShowsTheWindowsNotTheHosts) {
  const View view;
  const Timeline& timeline = view.scene->timeline();
  EXPECT_EQ(timeline.content.begin, 0);
  EXPECT_EQ(timeline.content.end, 3 * kSyntheticStep);
  EXPECT_EQ(timeline.focus.begin, 100);
  EXPECT_EQ(timeline.focus.end, 2 * kSyntheticStep + 1'000);
  EXPECT_EQ(timeline.origin, 100) << "the earliest device activity";
}

TEST(Timeline, FindsAnActivityWhereItStands) {
  const View view;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const auto activities = view.scene->data(rank).activities;
    for (std::uint32_t i = 0; i < activities.size(); ++i) {
      const auto item = view.scene->find_activity(rank, i);
      ASSERT_TRUE(item.has_value());
      EXPECT_EQ(view.scene->activity_of(*item), i);
    }
  }
  EXPECT_FALSE(view.scene->find_activity(0, 999).has_value());
  EXPECT_FALSE(view.scene->find_activity(99, 0).has_value());
}

TEST(Timeline, OfAnEmptyJobIsEmpty) {
  analyzer::Job job;
  const std::unique_ptr<Scene> empty = scene_of(job, analyzer::Analysis{});
  const Scene& scene = *empty;
  EXPECT_TRUE(scene.timeline().ranks.empty());
  EXPECT_EQ(scene.timeline().content.begin, scene.timeline().content.end);
}

TEST(Timeline, ARankWithoutEventsKeepsItsPlace) {
  analyzer::Job job;
  job.ranks.resize(2);
  job.ranks[1].rank = 1;
  const std::unique_ptr<Scene> silent = scene_of(job, analyzer::Analysis{});
  const Scene& scene = *silent;
  EXPECT_EQ(scene.timeline().ranks.size(), 2u);
  const Expansion expansion(scene.timeline());
  const Layout layout = lay_out(scene.timeline(), expansion, Sizes{});
  EXPECT_EQ(layout.ranks[1].y, layout.ranks[0].height);
  EXPECT_GT(layout.ranks[0].height, 0);
}

}  // namespace
}  // namespace lockstep::viewer

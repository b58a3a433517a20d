#include "viewer/views/collectives_table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "viewer/testing/job_without_times.h"
#include "viewer/testing/scene_of.h"
#include "viewer/testing/synthetic_job.h"
#include "viewer/timeline/standings.h"

namespace lockstep::viewer {
namespace {

TEST(CollectivesTable, ShowsTheLongestWaitsFirst) {
  const auto scene = scene_of(synthetic_job({.late = {0, 200}, .steps = 5}));
  const CollectivesTable table(*scene);
  ASSERT_EQ(table.rows().size(), 5u);
  EXPECT_EQ(table.summary(), "5 collectives, 1.00 µs waited by all");
  for (std::size_t i = 1; i < 5; ++i)
    EXPECT_LT(table.rows()[i - 1], table.rows()[i]) << "ties in order of time";
}

TEST(CollectivesTable, OfARunWithoutTimesSaysWhereTheOperationsStand) {
  const auto dumps = scene_of(job_without_times());
  const CollectivesTable table(*dumps);
  EXPECT_TRUE(table.unlisted());
  EXPECT_EQ(table.summary(), kWhereOrderStands);
  const auto scene = scene_of(synthetic_job());
  CollectivesTable nothing_fits(*scene);
  nothing_fits.set_filter("nothing of that name");
  EXPECT_FALSE(nothing_fits.unlisted());
  EXPECT_EQ(nothing_fits.summary(), "0 collectives");
}

// Every column, both ways, beside sorting by comparing each pair.
TEST(CollectivesTable, SortsByAnyColumn) {
  const auto scene = scene_of(synthetic_job({.late = {0, 200, 30}, .steps = 8}));
  CollectivesTable table(*scene);
  for (std::size_t c = 0; c < kCollectiveColumns; ++c) {
    for (const bool descending : {false, true}) {
      table.sort_by(static_cast<CollectiveColumn>(c), descending);
      std::vector<std::uint32_t> rows = table.rows();
      ASSERT_EQ(rows.size(), 8u);
      std::sort(rows.begin(), rows.end());
      for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(rows[i], i) << "each row once";
    }
  }
  table.sort_by(CollectiveColumn::step, true);
  EXPECT_EQ(scene->collectives()[table.rows().front()].step, 7);
  table.sort_by(CollectiveColumn::step, false);
  EXPECT_EQ(scene->collectives()[table.rows().front()].step, 0);
}

TEST(CollectivesTable, FiltersByWordsWhateverTheirCase) {
  const auto scene = scene_of(synthetic_job({.late = {0, 200, 30}, .steps = 12}));
  CollectivesTable table(*scene);
  table.set_filter("All_Reduce");
  EXPECT_EQ(table.rows().size(), 12u);
  table.set_filter("step3");
  EXPECT_EQ(table.rows().size(), 1u);
  table.set_filter("reduce rank1");
  EXPECT_EQ(table.rows().size(), 12u);
  table.set_filter("broadcast");
  EXPECT_TRUE(table.rows().empty());
  EXPECT_EQ(table.summary(), "0 collectives");
  table.set_filter("");
  EXPECT_EQ(table.rows().size(), 12u);
}

// Of three ranks' traces one: nobody knows who waited.
analyzer::Job one_of_three(analyzer::Job job) {
  job.ranks.resize(1);
  job.ranks_missing = {1, 2};
  return job;
}

TEST(CollectivesTable, SaysWhereWaitsAreNotKnown) {
  const auto scene = scene_of(one_of_three(synthetic_job({.late = {0, 200, 30}, .steps = 4})));
  const CollectivesTable table(*scene);
  EXPECT_EQ(table.summary(), "4 collectives, waits not known");
  for (const CollectiveHead& head : scene->collectives())
    EXPECT_EQ(cell_of(*scene, head, CollectiveColumn::wait), "–");
  EXPECT_TRUE(scene->costliest().empty());
}

TEST(CollectivesTable, WaitsThatAreNotKnownStandLast) {
  analyzer::Job job = synthetic_job({.late = {0, 200}, .steps = 6});
  // Rank 0 alone has a record of the last two.
  job.ranks[1].activities.resize(8);
  job.ranks[1].communications.resize(4);
  job.ranks[1].steps.resize(4);
  const auto scene = scene_of(job);
  CollectivesTable table(*scene);
  EXPECT_EQ(table.summary(), "6 collectives, 800 ns waited by all; waits of 2 not known");
  for (const bool descending : {true, false}) {
    table.sort_by(CollectiveColumn::wait, descending);
    ASSERT_EQ(table.rows().size(), 6u);
    for (std::size_t i = 0; i < 6; ++i)
      EXPECT_EQ(scene->collectives()[table.rows()[i]].waits_known(), i < 4) << descending << " " << i;
  }
}

TEST(CollectivesTable, CellsAreWhatTheReportSays) {
  const auto scene = scene_of(synthetic_job());
  const CollectiveHead& head = scene->collectives()[1];
  EXPECT_EQ(cell_of(*scene, head, CollectiveColumn::operation), "all_reduce");
  EXPECT_EQ(cell_of(*scene, head, CollectiveColumn::step), "1");
  EXPECT_EQ(cell_of(*scene, head, CollectiveColumn::last), "rank 2");
  EXPECT_EQ(cell_of(*scene, head, CollectiveColumn::wait), "800 ns");
}

}  // namespace
}  // namespace lockstep::viewer

#include "viewer/views/collectives_table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "viewer/testing/scene_of.h"
#include "viewer/testing/synthetic_job.h"

namespace lockstep::viewer {
namespace {

TEST(CollectivesTable, ShowsTheLongestWaitsFirst) {
  const auto scene = scene_of(synthetic_job({.late = {0, 200}, .steps = 5}));
  const CollectivesTable table(*scene);
  ASSERT_EQ(table.rows().size(), 5u);
  EXPECT_EQ(table.wait_ns(), 5 * 200);
  for (std::size_t i = 1; i < 5; ++i)
    EXPECT_LT(table.rows()[i - 1], table.rows()[i]) << "ties in order of time";
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
  EXPECT_EQ(table.wait_ns(), 0);
  table.set_filter("");
  EXPECT_EQ(table.rows().size(), 12u);
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

// The cells of docs/accuracy.md, as `scripts/accuracy` and `--full` count them.
#include "tests/accuracy/cells.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace lockstep::accuracy {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Field;

TEST(Cells, OfHealthyJobsAreTwentyOfFiveHundred) {
  CellChoice whole;
  whole.full = true;
  const std::vector<Cell> cells = cells_of(whole);
  EXPECT_EQ(cells.size(), 20U);
  EXPECT_THAT(cells, Each(Field(&Cell::jobs, 500)));
  EXPECT_THAT(cells, Each(Field(&Cell::fault, Fault::none)));
}

TEST(Cells, OfPlantedFaultsHaveAllEffectsAndLevelsOfNoise) {
  CellChoice whole;
  whole.what = "planted";
  whole.full = true;
  const std::vector<Cell> cells = cells_of(whole);
  std::set<double> effects, levels;
  std::set<Fault> faults;
  std::set<std::pair<std::int32_t, int>> sizes;
  for (const Cell& cell : cells) {
    effects.insert(cell.effect);
    levels.insert(cell.noise_level);
    faults.insert(cell.fault);
    sizes.emplace(cell.ranks, cell.steps);
  }
  EXPECT_THAT(effects, ElementsAre(0.01, 0.02, 0.03, 0.05, 0.10, 0.20));
  EXPECT_THAT(levels, ElementsAre(0, 0.01, 0.02, 0.05, 0.10));
  EXPECT_EQ(faults.size(), static_cast<std::size_t>(kFaultCount - 1));
  EXPECT_THAT(sizes, ElementsAre(std::pair(2, 50), std::pair(2, 200), std::pair(2, 1000), std::pair(8, 50),
                                 std::pair(8, 200), std::pair(64, 50), std::pair(64, 200)));
  EXPECT_EQ(cells.size(), 6 * 5 * 7 * faults.size()) << "each with each";
  EXPECT_THAT(cells, Each(Field(&Cell::jobs, 100)));
}

TEST(Cells, ByDefaultLeaveOutWhatIsExpensive) {
  for (const Cell& cell : cells_of({})) EXPECT_LE(8LL * cell.ranks * cell.steps, 1'000'000);
  CellChoice planted;
  planted.what = "planted";
  EXPECT_EQ(cells_of(planted).size(), 2U * 2 * 3 * 2 * (kFaultCount - 1));
}

TEST(Cells, AreThoseThatAreChosen) {
  CellChoice choice;
  choice.what = "planted";
  choice.full = true;
  choice.ranks = {8};
  choice.steps = {1000};
  choice.faults = {"link"};
  choice.effects = {0.05};
  choice.levels = {0.02};
  choice.jobs = 7;
  const std::vector<Cell> cells = cells_of(choice);
  ASSERT_EQ(cells.size(), 1U);
  EXPECT_EQ(cells[0].fault, Fault::link);
  EXPECT_EQ(cells[0].steps, 1000);
  EXPECT_EQ(cells[0].jobs, 7);
}

}  // namespace
}  // namespace lockstep::accuracy

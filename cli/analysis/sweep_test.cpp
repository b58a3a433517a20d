#include "cli/analysis/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> on_four(const std::vector<std::string>& command) {
  return command_on(command, 4, std::nullopt).value();
}

TEST(CommandOn, ReplacesPlaceholders) {
  EXPECT_THAT(on_four({"./launch.sh", "-n{ranks}", "{ranks}:{ranks}"}),
              ElementsAre("./launch.sh", "-n4", "4:4"));
  EXPECT_THAT(command_on({"srun", "-N", "{hosts}", "-n", "{ranks}"}, 9, 4).value(),
              ElementsAre("srun", "-N", "3", "-n", "9"));
  EXPECT_THAT(command_on({"srun", "-N", "{hosts}", "-n", "{ranks}"}, 9, std::nullopt).error().message,
              HasSubstr("--ranks-per-host"));
}

TEST(CommandOn, KnowsLaunchers) {
  EXPECT_THAT(on_four({"torchrun", "--nproc-per-node", "2", "train.py"}),
              ElementsAre("torchrun", "--nproc-per-node", "4", "train.py"));
  EXPECT_THAT(on_four({"/usr/bin/torchrun", "--nproc_per_node=2", "train.py"}),
              ElementsAre("/usr/bin/torchrun", "--nproc_per_node=4", "train.py"));
  EXPECT_THAT(on_four({"torchrun", "train.py"}),
              ElementsAre("torchrun", "--nproc-per-node", "4", "train.py"));
  EXPECT_THAT(on_four({"python", "-m", "torch.distributed.run", "train.py"}),
              ElementsAre("python", "-m", "torch.distributed.run", "--nproc-per-node", "4", "train.py"));
  EXPECT_THAT(on_four({"mpirun", "-np", "2", "./train"}), ElementsAre("mpirun", "-np", "4", "./train"));
  EXPECT_THAT(on_four({"srun", "./train"}), ElementsAre("srun", "-n", "4", "./train"));
  EXPECT_THAT(on_four({"lockstep", "train", "--device", "paced"}),
              ElementsAre("lockstep", "train", "--ranks", "4", "--device", "paced"));
  EXPECT_THAT(on_four({"env", "A=b", "lockstep-train", "--ranks", "1"}),
              ElementsAre("env", "A=b", "lockstep-train", "--ranks", "4"));
}

TEST(CommandOn, SaysWhatToWriteWhereItKnowsNone) {
  EXPECT_THAT(command_on({"./train", "2"}, 4, std::nullopt).error().message,
              HasSubstr("'./train' does not say on how many ranks it runs: write {ranks}"));
}

TEST(RunsOf, GoThereAndBack) {
  std::vector<std::string> order;
  for (const SweepRun& run : runs_of({.ranks = {1, 2, 4}, .runs = 2, .folder = "s", .command = {}}))
    order.push_back(run.folder.string());
  EXPECT_THAT(order, ElementsAre("s/ranks-1/run-1", "s/ranks-2/run-1", "s/ranks-4/run-1", "s/ranks-4/run-2",
                                 "s/ranks-2/run-2", "s/ranks-1/run-2"));
}

}  // namespace
}  // namespace lockstep::cli

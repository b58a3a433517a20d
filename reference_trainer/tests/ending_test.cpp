// How a running job ends when one of its ranks is killed, or the user has enough of it: every rank ends,
// soon, says why, and leaves nothing behind. In each mode, because each waits in other places.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>

#include "reference_trainer/tests/small_job.h"

namespace lockstep::trainer {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

constexpr int kRanks = 3;

class RunningJob : public SmallJob, public testing::WithParamInterface<const char*> {
 protected:
  RunningJob() : SmallJob({"--layers", "3", "--hidden", "16", "--heads", "1", "--sequence-length", "16"}) {}

  Arguments endless_job() const { return command({"--mode", GetParam(), "--steps", "1000000"}); }
  static void await_second_step(TrainerProcess& process) {
    for (std::string line; !line.starts_with("step 2");)
      ASSERT_TRUE(process.read_line(line)) << "the job ended before its second step";
  }
};

TEST_P(RunningJob, EndsWhenARankIsKilled) {
  TrainerProcess process(endless_job() + Arguments{"--ranks", std::to_string(kRanks)});
  ASSERT_NO_FATAL_FAILURE(await_second_step(process));
  const std::map<int, pid_t> ranks = ranks_of(process.pid());
  ASSERT_EQ(ranks.size(), std::size_t{kRanks});
  kill(ranks.at(1), SIGKILL);
  EXPECT_EQ(process.wait(), 128 + SIGKILL);
  EXPECT_THAT(process.errors(), HasSubstr("rank 1 was killed by signal 9 (SIGKILL)"));
  for (const auto& [rank, pid] : ranks) EXPECT_NE(kill(pid, 0), 0) << "rank " << rank << " still runs";
}

// Without a launcher that ends the others each rank must find out by itself, and say of what.
TEST_P(RunningJob, EveryRankFindsOutThatOneIsKilled) {
  const std::string port = std::to_string(free_port());
  std::vector<std::unique_ptr<TrainerProcess>> ranks;
  for (int rank = 0; rank < kRanks; ++rank)
    ranks.push_back(
        std::make_unique<TrainerProcess>(endless_job(), Environment{{"RANK", std::to_string(rank)},
                                                                    {"WORLD_SIZE", std::to_string(kRanks)},
                                                                    {"MASTER_ADDR", "127.0.0.1"},
                                                                    {"MASTER_PORT", port}}));
  ASSERT_NO_FATAL_FAILURE(await_second_step(*ranks[0]));
  kill(ranks[2]->pid(), SIGKILL);
  EXPECT_EQ(ranks[2]->wait(), 128 + SIGKILL);
  for (const int rank : {0, 1}) {
    TrainerProcess& survivor = *ranks[static_cast<std::size_t>(rank)];
    EXPECT_EQ(survivor.wait(), 1) << "rank " << rank;
    const std::string stopped = "rank " + std::to_string(rank) + ": training stopped: ";
    // Where it was: a collective of a group, the Reducer's, a message to or from a rank, a sum over all
    // ranks.
    EXPECT_THAT(
        survivor.errors(),
        ContainsRegex(stopped + "(.* \\(number [0-9]+ of group .*\\)|backward of micro-step 0, .*|"
                                "(send|recv) .* (to|from) rank [0-9]|sum of the .* over all ranks): "));
  }
}

TEST_P(RunningJob, PassesSignalsOn) {
  TrainerProcess process(endless_job() + Arguments{"--ranks", std::to_string(kRanks)});
  ASSERT_NO_FATAL_FAILURE(await_second_step(process));
  const std::map<int, pid_t> ranks = ranks_of(process.pid());
  kill(process.pid(), SIGINT);
  EXPECT_EQ(process.wait(), 128 + SIGINT);
  EXPECT_THAT(process.errors(), HasSubstr("ended by SIGINT"));
  for (const auto& [rank, pid] : ranks) EXPECT_NE(kill(pid, 0), 0) << "rank " << rank << " still runs";
}

INSTANTIATE_TEST_SUITE_P(Modes, RunningJob,
                         testing::Values("ddp", "fsdp", "zero1", "zero2", "zero3", "pipeline"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace lockstep::trainer

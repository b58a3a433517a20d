// Trains for real and compares: the loss falls, and how the work is shared out does not change it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "reference_trainer/tests/small_job.h"
#include "tests/end_to_end/support.h"

namespace lockstep::trainer {
namespace {

class Training : public SmallJob {
 protected:
  Training() : SmallJob({"--layers", "2", "--hidden", "48", "--heads", "3", "--sequence-length", "32"}) {}

  // Trains without a word of complaint, and returns the losses.
  std::vector<double> losses(const Arguments& more) const {
    TrainerProcess process(command(more));
    EXPECT_EQ(process.wait(), 0);
    EXPECT_EQ(process.errors(), "");
    return losses_of(read_json_lines(folder_.file("log")));
  }

  static double largest_relative_difference(const std::vector<double>& a, const std::vector<double>& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      largest = std::max(largest, std::abs(a[i] - b.at(i)) / std::abs(a[i]));
    return largest;
  }
};

TEST_F(Training, LossFalls) {
  const std::vector<double> values = losses({"--ranks", "2", "--steps", "20", "--learning-rate", "0.003"});
  ASSERT_EQ(values.size(), 20u);
  // A byte-level model that knows nothing starts near ln 256 = 5.55 nats; one that knows which bytes are
  // frequent needs less than ln 30 = 3.4.
  EXPECT_NEAR(values.front(), std::log(256.0), 0.3);
  EXPECT_LT(values.back(), 3.4);
}

TEST_F(Training, FourRanksEqualOneInFloat64) {
  const std::vector<double> four = losses({"--ranks", "4", "--batch-size", "2", "--dtype", "float64"});
  const std::vector<double> one = losses({"--ranks", "1", "--batch-size", "8", "--dtype", "float64"});
  ASSERT_EQ(one.size(), 20u);
  ASSERT_EQ(four.size(), 20u);
  EXPECT_LT(largest_relative_difference(one, four), 1e-9);
  EXPECT_NE(one.front(), one.back());
}

TEST_F(Training, AccumulatedBatchesEqualOneLargeBatch) {
  const Arguments common{"--ranks", "2", "--dtype", "float64", "--steps", "6"};
  const std::vector<double> large = losses(common + Arguments{"--batch-size", "4"});
  const std::vector<double> accumulated =
      losses(common + Arguments{"--batch-size", "1", "--gradient-accumulation", "4"});
  ASSERT_EQ(large.size(), 6u);
  EXPECT_LT(largest_relative_difference(large, accumulated), 1e-9);
}

TEST_F(Training, PrecisionsStartFromTheSameWeights) {
  const std::vector<double> single = losses({"--steps", "1"});
  const std::vector<double> twice = losses({"--steps", "1", "--dtype", "float64"});
  ASSERT_EQ(single.size(), 1u);
  EXPECT_NEAR(single[0], twice.at(0), 1e-5);
  EXPECT_NE(single[0], twice[0]);
}

TEST_F(Training, SlowRankChangesTimeAlone) {
  const std::vector<double> usual = losses({"--ranks", "2", "--steps", "3"});
  const std::vector<double> slowed =
      losses({"--ranks", "2", "--steps", "3", "--slow-rank", "1", "--slow-factor", "3"});
  EXPECT_EQ(usual, slowed);
}

TEST_F(Training, FaultsChangeTimeAlone) {
  const Arguments common{"--ranks", "2", "--steps", "3", "--mode", "fsdp"};
  Arguments faulty = common;
  for (const char* fault : {"slow_rank:rank=0,factor=1.5", "slow_loader:ms=2", "pause:ms=3",
                            "uneven_batch:factor=3", "delayed_launch:us=100", "slow_link:mbit=1000"})
    faulty.insert(faulty.end(), {"--fault", fault});
  EXPECT_EQ(losses(common), losses(faulty));
}

TEST_F(Training, LlamaShardedEqualsLlamaWhole) {
  const Arguments llama{"--model", "llama", "--kv-heads", "1", "--dtype", "float64", "--steps", "6"};
  const std::vector<double> one = losses(llama + Arguments{"--batch-size", "6"});
  ASSERT_EQ(one.size(), 6u);
  EXPECT_LT(one.back(), one.front());
  for (const char* mode : {"ddp", "fsdp"})
    EXPECT_LT(largest_relative_difference(
                  one, losses(llama + Arguments{"--ranks", "3", "--mode", mode, "--batch-size", "2"})),
              1e-9)
        << mode;
}

TEST_F(Training, SeedDecides) {
  const std::vector<double> first = losses({"--steps", "2", "--seed", "7"});
  const std::vector<double> again = losses({"--steps", "2", "--seed", "7"});
  const std::vector<double> other = losses({"--steps", "2", "--seed", "8"});
  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);
}

// Three processes that something else has started, rank 0 running the store, as by hand or from a Slurm
// script.
TEST_F(Training, JoinsAJobThatWasStartedElsewhere) {
  const std::string port = std::to_string(end_to_end::free_port());
  std::vector<std::unique_ptr<TrainerProcess>> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    const Environment place{{"RANK", std::to_string(rank)},
                            {"WORLD_SIZE", "3"},
                            {"MASTER_ADDR", "127.0.0.1"},
                            {"MASTER_PORT", port}};
    ranks.push_back(std::make_unique<TrainerProcess>(command({"--steps", "2"}), place));
  }
  for (auto& rank : ranks) EXPECT_EQ(rank->wait(), 0) << rank->errors();
  const std::vector<double> joined = losses_of(read_json_lines(folder_.file("log")));
  EXPECT_EQ(joined, losses({"--ranks", "3", "--steps", "2"}));
  EXPECT_EQ(ranks[1]->output(), "");  // rank 0 alone reports
}

TEST_F(Training, LearnsTheDocumentationByDefault) {
  TrainerProcess process(
      {"--steps", "1", "--layers", "1", "--hidden", "8", "--heads", "1", "--batch-size", "2"});
  EXPECT_EQ(process.wait(), 0) << process.errors();
  EXPECT_THAT(process.output(), ::testing::HasSubstr("step 1  loss "));
}

}  // namespace
}  // namespace lockstep::trainer

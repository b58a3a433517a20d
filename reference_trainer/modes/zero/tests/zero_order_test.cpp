// The order in which ZeRO issues collectives is DeepSpeed's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "reference_trainer/modes/zero/tests/zero_job.h"

namespace lockstep::trainer {
namespace {

using nlohmann::json;
using testing::ElementsAreArray;

class ZeroOrder : public ZeroJob {
 protected:
  // In order: what was issued in the group "zero", the parts' compute, and phases that begin with one of
  // these.
  std::vector<std::string> order(const json& zero, const std::vector<std::string>& phases = {},
                                 const Arguments& more = {}) const {
    std::vector<std::string> order;
    for (const json& line : heard_in_step_3(zero, more)) {
      const std::string message = line.at("message");
      const bool is_phase =
          !line.contains("schema") &&
          std::any_of(phases.begin(), phases.end(), [&](auto& phase) { return message.starts_with(phase); });
      const bool is_pass = line.value("schema", "") == "lockstep.compute" &&
                           line.at("fields").at("pass") != 0 && line.at("fields").at("pass") != 4;
      if (is_phase || is_pass || is_of_zero(line, "lockstep.issue")) order.push_back(message);
    }
    return order;
  }
};

const Arguments kForward{"forward embedding", "forward layer 0", "forward layer 1", "forward layer 2",
                         "forward head"};

// Buckets of one layer's size, filled from the head down: the first holds the head and 24 elements of layer
// 2, the next ones a layer shifted by those 24, then comes what is left of layer 0, then the embedding.
Arguments scatter(int bucket) {
  return {"reduce_scatter bucket " + std::to_string(bucket)};
}
const Arguments kWait{"wait for gradients"};

// The bucket that has no room for the embedding is reduced before its backward; the others in the middle of a
// layer, which is seen at the layer's end. One reduction is outstanding: the host waits for it before the
// next.
const Arguments kBackwardOverlapped =
    Arguments{"backward head", "backward layer 2"} + scatter(0) + Arguments{"backward layer 1"} + kWait +
    scatter(1) + Arguments{"backward layer 0"} + kWait + scatter(2) + kWait + scatter(3) +
    Arguments{"backward embedding"} + kWait + scatter(4) + kWait;
const Arguments kBackwardWaiting = Arguments{"backward head", "backward layer 2"} + scatter(0) + kWait +
                                   Arguments{"backward layer 1"} + scatter(1) + kWait +
                                   Arguments{"backward layer 0"} + scatter(2) + kWait + scatter(3) + kWait +
                                   Arguments{"backward embedding"} + scatter(4) + kWait;
const Arguments kBackward{"backward head", "backward layer 2", "backward layer 1", "backward layer 0",
                          "backward embedding"};
// 20000 elements at a time, of 34176.
const Arguments kUpdated{"all_gather bucket 0", "all_gather bucket 1"};

TEST_F(ZeroOrder, Stage2WithOverlap) {
  EXPECT_THAT(order(stage_1_or_2(2, true), kWait),
              ElementsAreArray(kForward + kBackwardOverlapped + kUpdated));
}

TEST_F(ZeroOrder, Stage2WithoutOverlap) {
  EXPECT_THAT(order(stage_1_or_2(2, false), kWait), ElementsAreArray(kForward + kBackwardWaiting + kUpdated));
}

TEST_F(ZeroOrder, Stage2ReducesInEveryMicroStep) {
  EXPECT_THAT(order(stage_1_or_2(2, true), kWait, {"--gradient-accumulation", "2"}),
              ElementsAreArray(kForward + kBackwardOverlapped + kForward + kBackwardOverlapped + kUpdated));
}

TEST_F(ZeroOrder, Stage1WithOverlapReducesInTheLastMicroStep) {
  EXPECT_THAT(order(stage_1_or_2(1, true), kWait, {"--gradient-accumulation", "2"}),
              ElementsAreArray(kForward + kBackward + kForward + kBackwardOverlapped + kUpdated));
}

// From the embedding up: embedding 6528 and 48 + 24 elements of layer 0 … as many buckets, cut elsewhere.
TEST_F(ZeroOrder, Stage1WithoutOverlapReducesAfterBackward) {
  Arguments reduced;
  for (int bucket = 0; bucket < 5; ++bucket) reduced = reduced + scatter(bucket) + kWait;
  EXPECT_THAT(order(stage_1_or_2(1, false), kWait, {"--gradient-accumulation", "2"}),
              ElementsAreArray(kForward + kBackward + kForward + kBackward + reduced + kUpdated));
}

TEST_F(ZeroOrder, Stage3FetchesEveryPartForEveryUse) {
  EXPECT_THAT(order(stage_3({{"overlap_comm", false}}), kWait),
              ElementsAreArray({"all_gather embedding",    "forward embedding",
                                "all_gather layer 0",      "forward layer 0",
                                "all_gather layer 1",      "forward layer 1",
                                "all_gather layer 2",      "forward layer 2",
                                "all_gather head",         "forward head",
                                "all_gather head",         "backward head",
                                "all_gather layer 2",      "backward layer 2",
                                "reduce_scatter bucket 0", "wait for gradients",
                                "all_gather layer 1",      "backward layer 1",
                                "reduce_scatter bucket 1", "wait for gradients",
                                "all_gather layer 0",      "backward layer 0",
                                "reduce_scatter bucket 2", "wait for gradients",
                                "all_gather embedding",    "reduce_scatter bucket 3",
                                "wait for gradients",      "backward embedding",
                                "reduce_scatter bucket 4", "wait for gradients"}));
}

// A layer's worth is prefetched while a part computes. While layer 2 computes that is the head and, because
// head and layer 2 are there for their backward, the first of layer 1's parameters for its own.
TEST_F(ZeroOrder, Stage3PrefetchesAlongTheTrace) {
  EXPECT_THAT(order(stage_3({{"stage3_prefetch_bucket_size", kLayer}})),
              ElementsAreArray({"all_gather embedding",
                                "all_gather layer 0",
                                "forward embedding",
                                "all_gather layer 1",
                                "forward layer 0",
                                "all_gather layer 2",
                                "forward layer 1",
                                "all_gather head to layer 1",
                                "forward layer 2",
                                "all_gather layer 1 to layer 0",
                                "forward head",
                                "all_gather layer 0 to embedding",
                                "backward head",
                                "all_gather embedding",
                                "backward layer 2",
                                "reduce_scatter bucket 0",
                                "backward layer 1",
                                "reduce_scatter bucket 1",
                                "backward layer 0",
                                "reduce_scatter bucket 2",
                                "reduce_scatter bucket 3",
                                "backward embedding",
                                "reduce_scatter bucket 4"}));
}

// Up to two reductions are outstanding: the first wait is for bucket 0, before bucket 2.
TEST_F(ZeroOrder, Stage3WaitsForAReductionWhenTwoAreOutstanding) {
  auto found = order(stage_3({{"overlap_comm", true}}), kWait);
  std::erase_if(found,
                [](const std::string& word) { return !word.starts_with("reduce") && word != kWait[0]; });
  EXPECT_THAT(found, ElementsAreArray(scatter(0) + scatter(1) + kWait + scatter(2) + kWait + scatter(3) +
                                      kWait + scatter(4) + kWait + kWait));
}

Arguments fetch(const std::string& verb, const std::string& what) {
  return {verb + " " + what, "fetch offloaded " + what, "all_gather " + what};
}

// Room for an embedding and a layer; vectors are persistent and don't count. With the embedding there is room
// for all of layer 0 and, because that is less than a bucket, one matrix of layer 1; and so on.
TEST_F(ZeroOrder, PhasesOfStage3) {
  const auto found = order(stage_3({{"stage3_prefetch_bucket_size", kLayer},
                                    {"stage3_max_live_parameters", kEmbedding + kLayer},
                                    {"stage3_param_persistence_threshold", 100},
                                    {"offload_param", {{"device", "cpu"}}},
                                    {"offload_optimizer", {{"device", "cpu"}}}}),
                           {"fetch ", "prefetch ", "release ", "offload "});
  const Arguments forward = fetch("fetch", "embedding") + fetch("prefetch", "layer 0 to layer 1") +
                            Arguments{"forward embedding", "release embedding"} +
                            fetch("prefetch", "layer 1") + Arguments{"forward layer 0", "release layer 0"} +
                            fetch("prefetch", "layer 2") + Arguments{"forward layer 1", "release layer 1"} +
                            fetch("prefetch", "head to layer 1") +
                            Arguments{"forward layer 2", "forward head"};
  const Arguments backward = Arguments{"backward head", "release head"} + fetch("prefetch", "layer 1") +
                             Arguments{"backward layer 2", "reduce_scatter bucket 0", "release layer 2"} +
                             fetch("prefetch", "layer 0") +
                             Arguments{"backward layer 1", "reduce_scatter bucket 1", "release layer 1"} +
                             fetch("prefetch", "embedding") +
                             Arguments{"backward layer 0", "reduce_scatter bucket 2", "release layer 0"} +
                             Arguments{"reduce_scatter bucket 3", "backward embedding", "release embedding",
                                       "reduce_scatter bucket 4"};
  EXPECT_THAT(found,
              ElementsAreArray(forward + backward + Arguments{"offload gradients", "offload parameters"} +
                               fetch("fetch", "persistent parameters")));
}

}  // namespace
}  // namespace lockstep::trainer

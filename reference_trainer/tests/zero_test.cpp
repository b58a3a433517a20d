// ZeRO stages 1, 2 and 3: losses are those of one process, collectives are issued in DeepSpeed's order, and
// they move the bytes that theory says. Sizes of the model's parts, in elements: embedding 6144 + 384, a
// layer 7152, head 48 + 6144; S = 34176.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "reference_trainer/tests/trainer_process.h"

namespace lockstep::trainer {
namespace {

using Arguments = std::vector<std::string>;
using nlohmann::json;
using testing::ElementsAreArray;
using testing::HasSubstr;

constexpr std::int64_t kEmbedding = 6528, kLayer = 7152, kHead = 6192;
constexpr std::int64_t kModel = kEmbedding + 3 * kLayer + kHead;
constexpr std::int64_t kFloat = 4;  // bytes

Arguments operator+(Arguments first, const Arguments& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

class Zero : public testing::Test {
 protected:
  Zero() { write_file(folder_.file("text"), sample_text()); }

  Arguments command(const Arguments& more) const {
    return Arguments{"--data",
                     folder_.file("text"),
                     "--log",
                     folder_.file("log"),
                     "--layers",
                     "3",
                     "--hidden",
                     hidden_,
                     "--heads",
                     "2",
                     "--sequence-length",
                     "16"} +
           more;
  }

  // A configuration of DeepSpeed's with this section "zero_optimization".
  std::string config(const json& zero) const {
    const std::string path = folder_.file("deepspeed.json");
    write_file(path, json{{"zero_optimization", zero}}.dump());
    return path;
  }

  std::vector<json> steps(const Arguments& more, const Environment& environment = {}) const {
    TrainerProcess process(command(more), environment);
    EXPECT_EQ(process.wait(), 0) << process.errors();
    return events(read_json_lines(folder_.file("log")), "step");
  }

  // The largest relative difference, over all steps.
  static double difference(const std::vector<json>& a, const std::vector<json>& b,
                           const std::vector<const char*>& figures = {"loss", "gradient_norm"}) {
    EXPECT_EQ(a.size(), b.size());
    double largest = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      for (const char* figure : figures) {
        const double one = a[i].at(figure), other = b[i].at(figure);
        largest = std::max(largest, std::abs(one - other) / std::abs(one));
      }
    }
    return largest;
  }

  // What rank 0 told NVTX of step 3 of two ranks, when the order of the parts is known and used.
  std::vector<json> heard_in_step_3(const json& zero, const Arguments& more = {}) const {
    const std::string file = folder_.file("heard.0");
    std::filesystem::remove(file);  // the listener appends
    steps(Arguments{"--deepspeed", config(zero), "--ranks", "2", "--batch-size", "2", "--steps", "3"} + more,
          {{"NVTX_INJECTION64_PATH", LOCKSTEP_NVTX_LISTENER},
           {"LOCKSTEP_TEST_LISTENER", folder_.file("heard")}});
    std::vector<json> heard;
    int step = 0;
    for (json& line : read_json_lines(file)) {
      if (line.at("kind") != "push") continue;
      const bool is_step = line.value("schema", "") == "lockstep.step";
      if (is_step) step = line.at("fields").at("step");
      if (step == 3 && !is_step) heard.push_back(std::move(line));
    }
    return heard;
  }

  static bool is_of_zero(const json& line, const char* schema) {
    return line.value("schema", "") == schema && line.at("fields").at("group") == 1;
  }

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

  // Bytes of the operations of the group "zero" of one step, as traced.
  std::map<std::string, std::int64_t> bytes(const json& zero, const Arguments& more = {}) const {
    std::map<std::string, std::int64_t> bytes;
    for (const json& line : heard_in_step_3(zero, more)) {
      const std::string message = line.at("message");
      if (is_of_zero(line, "lockstep.collective"))
        bytes[message.substr(0, message.find(' '))] += line.at("fields").at("bytes").get<std::int64_t>();
    }
    return bytes;
  }

  TemporaryFolder folder_;
  std::string hidden_ = "24";
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

json stage_1_or_2(int stage, bool overlap) {
  return {{"stage", stage},
          {"overlap_comm", overlap},
          {"reduce_bucket_size", kLayer},
          {"allgather_bucket_size", 20000}};
}

TEST_F(Zero, OrderOfStage2WithOverlap) {
  EXPECT_THAT(order(stage_1_or_2(2, true), kWait),
              ElementsAreArray(kForward + kBackwardOverlapped + kUpdated));
}

TEST_F(Zero, OrderOfStage2WithoutOverlap) {
  EXPECT_THAT(order(stage_1_or_2(2, false), kWait), ElementsAreArray(kForward + kBackwardWaiting + kUpdated));
}

TEST_F(Zero, Stage2ReducesInEveryMicroStep) {
  EXPECT_THAT(order(stage_1_or_2(2, true), kWait, {"--gradient-accumulation", "2"}),
              ElementsAreArray(kForward + kBackwardOverlapped + kForward + kBackwardOverlapped + kUpdated));
}

TEST_F(Zero, Stage1WithOverlapReducesInTheLastMicroStep) {
  EXPECT_THAT(order(stage_1_or_2(1, true), kWait, {"--gradient-accumulation", "2"}),
              ElementsAreArray(kForward + kBackward + kForward + kBackwardOverlapped + kUpdated));
}

// From the embedding up: embedding 6528 and 48 + 24 elements of layer 0 … as many buckets, cut elsewhere.
TEST_F(Zero, Stage1WithoutOverlapReducesAfterBackward) {
  Arguments reduced;
  for (int bucket = 0; bucket < 5; ++bucket) reduced = reduced + scatter(bucket) + kWait;
  EXPECT_THAT(order(stage_1_or_2(1, false), kWait, {"--gradient-accumulation", "2"}),
              ElementsAreArray(kForward + kBackward + kForward + kBackward + reduced + kUpdated));
}

json stage_3(const json& more = json::object()) {
  json zero{{"stage", 3},
            {"reduce_bucket_size", kLayer},
            {"stage3_prefetch_bucket_size", 0},
            {"stage3_param_persistence_threshold", 0},
            {"stage3_max_reuse_distance", 0}};
  zero.update(more);
  return zero;
}

TEST_F(Zero, OrderOfStage3FetchesEveryPartForEveryUse) {
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
TEST_F(Zero, OrderOfStage3PrefetchesAlongTheTrace) {
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
TEST_F(Zero, Stage3WaitsForAReductionWhenTwoAreOutstanding) {
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
TEST_F(Zero, PhasesOfStage3) {
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

TEST_F(Zero, TracedBytes) {
  const std::int64_t whole = kModel * kFloat;
  using Bytes = std::map<std::string, std::int64_t>;
  for (const int stage : {1, 2})
    EXPECT_EQ(bytes(stage_1_or_2(stage, true)), (Bytes{{"all_gather", whole}, {"reduce_scatter", whole}}));
  // Without reuse: 3 S, half as much again as data parallelism, whose all-reduce is 2 S on the wire.
  EXPECT_EQ(bytes(stage_3()), (Bytes{{"all_gather", 2 * whole}, {"reduce_scatter", whole}}));
  EXPECT_EQ(bytes(stage_3({{"stage3_prefetch_bucket_size", 0}, {"stage3_max_reuse_distance", 1}})),
            (Bytes{{"all_gather", 2 * whole - kHead * kFloat}, {"reduce_scatter", whole}}));
  // Everything is used again within so many elements, or kept.
  EXPECT_EQ(bytes(stage_3({{"stage3_max_reuse_distance", 1e9}})),
            (Bytes{{"all_gather", whole}, {"reduce_scatter", whole}}));
  EXPECT_EQ(bytes(stage_3({{"stage3_param_persistence_threshold", 1e6}})),
            (Bytes{{"all_gather", whole}, {"reduce_scatter", whole}}));
  EXPECT_EQ(bytes(stage_3({{"reduce_scatter", false}})),
            (Bytes{{"all_gather", 2 * whole}, {"all_reduce", whole}}));
  // Every micro-step moves it all again.
  EXPECT_EQ(bytes(stage_3(), {"--gradient-accumulation", "3"}),
            (Bytes{{"all_gather", 6 * whole}, {"reduce_scatter", 3 * whole}}));
}

struct Variant {
  std::string name;
  json zero;
  Arguments flags;
};
void PrintTo(const Variant& variant, std::ostream* out) {
  *out << variant.name;
}

constexpr int kBatch = 8;
const Arguments kExact{"--dtype", "float64", "--steps", "20", "--clip-grad-norm", "0.5"};

class ZeroLoss : public Zero, public testing::WithParamInterface<std::tuple<int, Variant>> {
 protected:
  void expect_equal_to_one_process(int ranks, const Variant& variant) const {
    const auto one = steps(kExact + Arguments{"--mode", "single", "--batch-size", std::to_string(kBatch)});
    json zero = variant.zero;
    for (const char* offload : {"offload_param", "offload_optimizer"})
      if (zero.contains(offload)) zero[offload]["nvme_path"] = folder_.file("");
    Arguments flags = variant.flags;
    if (flags.empty()) flags = {"--batch-size", std::to_string(kBatch / ranks)};
    const auto many =
        steps(kExact + Arguments{"--deepspeed", config(zero), "--ranks", std::to_string(ranks)} + flags);
    ASSERT_EQ(one.size(), 20u);
    EXPECT_LT(difference(one, many), 1e-9);
    EXPECT_LT(many.back().at("loss"), many.front().at("loss"));
  }
};

TEST_P(ZeroLoss, EqualsOneProcess) {
  const auto& [ranks, variant] = GetParam();
  expect_equal_to_one_process(ranks, variant);
}

const auto kName = [](const auto& info) {
  return std::get<1>(info.param).name + "_" + std::to_string(std::get<0>(info.param));
};

json with_overlap(json zero, bool overlap) {
  zero["overlap_comm"] = overlap;
  return zero;
}
// Half a layer is prefetched, parameters of fewer than 100 elements stay, 14000 elements live.
const json kBusy = stage_3({{"stage3_prefetch_bucket_size", 3500},
                            {"stage3_param_persistence_threshold", 100},
                            {"stage3_max_live_parameters", 14000},
                            {"reduce_bucket_size", 4000}});

INSTANTIATE_TEST_SUITE_P(
    Stages, ZeroLoss,
    testing::Combine(testing::Values(2, 4, 8),
                     testing::Values(Variant{"stage_1", stage_1_or_2(1, false), {}},
                                     Variant{"stage_1_overlap", stage_1_or_2(1, true), {}},
                                     Variant{"stage_2", stage_1_or_2(2, false), {}},
                                     Variant{"stage_2_overlap", stage_1_or_2(2, true), {}},
                                     Variant{"stage_3", with_overlap(kBusy, false), {}},
                                     Variant{"stage_3_overlap", with_overlap(kBusy, true), {}})),
    kName);

Variant busy(const std::string& name, const json& more, const Arguments& flags = {}) {
  json zero = kBusy;
  zero.update(more);
  return {name, zero, flags};
}
const json kCpu{{"device", "cpu"}}, kNvme{{"device", "nvme"}};

INSTANTIATE_TEST_SUITE_P(
    Variants, ZeroLoss,
    testing::Combine(
        testing::Values(2),
        testing::Values(
            busy("offload_optimizer_cpu", {{"offload_optimizer", kCpu}, {"sub_group_size", 5000}}),
            busy("offload_optimizer_nvme", {{"offload_optimizer", kNvme}, {"sub_group_size", 5000}}),
            busy("offload_param_cpu", {{"offload_param", kCpu}}),
            busy("offload_all_to_nvme", {{"offload_param", kNvme}, {"offload_optimizer", kNvme}}),
            Variant{"stage_2_offload_nvme",
                    {{"stage", 2}, {"offload_optimizer", kNvme}, {"allgather_bucket_size", 777}},
                    {}},
            Variant{"defaults_of_stage_3", {{"stage", 3}}, {}},
            busy("no_persistence", {{"stage3_param_persistence_threshold", 0}}),
            busy("no_reuse_no_prefetch",
                 {{"stage3_max_reuse_distance", 0}, {"stage3_prefetch_bucket_size", 0}}),
            busy("some_reuse", {{"stage3_max_reuse_distance", 9000}}),
            busy("one_element_ahead", {{"stage3_prefetch_bucket_size", 1}}),
            busy("all_reduce", {{"reduce_scatter", false}}),
            busy("not_contiguous", {{"contiguous_gradients", false}}),
            busy("accumulation", json::object(), {"--batch-size", "2", "--gradient-accumulation", "2"}),
            busy("checkpointing", json::object(), {"--batch-size", "4", "--activation-checkpointing"}),
            Variant{"stage_1_accumulation",
                    stage_1_or_2(1, true),
                    {"--batch-size", "2", "--gradient-accumulation", "2"}},
            Variant{"stage_2_accumulation",
                    stage_1_or_2(2, true),
                    {"--batch-size", "2", "--gradient-accumulation", "2"}},
            Variant{"stage_2_all_reduce",
                    {{"stage", 2},
                     {"reduce_scatter", false},
                     {"contiguous_gradients", false},
                     {"reduce_bucket_size", 1}},
                    {}})),
    kName);

// Parameters whose elements don't divide by the ranks are padded.
TEST_F(Zero, UnevenPartsAreExactToo) {
  hidden_ = "22";
  const auto one = steps(kExact + Arguments{"--mode", "single", "--batch-size", "6"});
  for (const int stage : {2, 3}) {
    const auto many = steps(
        kExact + Arguments{"--mode", "zero" + std::to_string(stage), "--ranks", "3", "--batch-size", "2"});
    EXPECT_LT(difference(one, many), 1e-9) << stage;
  }
}

// The configurations of shared/configs as they stand, in bfloat16, beside one process in float32.
class SharedConfigs : public Zero, public testing::WithParamInterface<std::tuple<const char*, int>> {};

TEST_P(SharedConfigs, TrainAsTheyStand) {
  const auto& [name, batch] = GetParam();
  const std::string path = std::string(LOCKSTEP_SOURCE_DIR) + "/../shared/configs/" + name;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const auto one = steps({"--mode", "single", "--batch-size", "16", "--steps", "6"});
  const auto many =
      steps({"--deepspeed", path, "--ranks", "2", "--batch-size", std::to_string(batch), "--steps", "6"});
  EXPECT_LT(difference(one, many, {"loss"}), 2e-2);
  EXPECT_GT(difference(one, many, {"loss"}), 1e-9);  // it was bfloat16
  EXPECT_LT(many.back().at("loss"), many.front().at("loss"));
}

INSTANTIATE_TEST_SUITE_P(Files, SharedConfigs,
                         testing::Values(std::tuple("zero2.json", 2), std::tuple("zero3.json", 2),
                                         std::tuple("zero3-cpu-offload.json", 1),
                                         std::tuple("llama-3-8b-stage3.json", 8)));

TEST_F(Zero, WhatHasNoEffectIsSaidOnce) {
  TrainerProcess process(command({"--deepspeed", config({{"stage", 2}, {"round_robin_gradients", true}}),
                                  "--ranks", "2", "--steps", "1"}));
  EXPECT_EQ(process.wait(), 0);
  const std::string line =
      "warning: " + folder_.file("deepspeed.json") + ": zero_optimization.round_robin_gradients";
  EXPECT_THAT(process.errors(), HasSubstr(line));
  EXPECT_EQ(process.errors().find(line), process.errors().rfind(line));
}

TEST_F(Zero, WrongUseIsRefused) {
  const auto refuse = [this](const Arguments& more, const std::string& message) {
    TrainerProcess process(command(more));
    EXPECT_EQ(process.wait(), 2);
    EXPECT_THAT(process.errors(), HasSubstr(message));
  };
  refuse({"--mode", "zero3"}, "--mode zero3: one rank has nobody to share with");
  refuse({"--ranks", "2", "--deepspeed", "/no/such.json"}, "--deepspeed '/no/such.json'");
  write_file(folder_.file("batch.json"), R"({"train_batch_size": 9, "zero_optimization": {"stage": 1}})");
  refuse({"--ranks", "2", "--deepspeed", folder_.file("batch.json")},
         "train_batch_size 9 is not a multiple of 2 ranks");
  refuse({"--ranks", "2", "--deepspeed",
          config({{"stage", 3}, {"offload_param", {{"device", "nvme"}, {"nvme_path", "/no/such"}}}})},
         "zero_optimization.offload_param.nvme_path: \"/no/such\" must be a folder that exists");
}

}  // namespace
}  // namespace lockstep::trainer

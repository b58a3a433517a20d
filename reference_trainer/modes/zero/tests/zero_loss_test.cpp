// Losses of ZeRO, in every variant, are those of one process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "reference_trainer/modes/zero/tests/zero_job.h"

namespace lockstep::trainer {
namespace {

using nlohmann::json;

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

class ZeroLoss : public ZeroJob, public testing::WithParamInterface<std::tuple<int, Variant>> {
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
    EXPECT_LT(largest_difference(one, many), 1e-9);
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

class UnevenZero : public ZeroJob {
 protected:
  UnevenZero() : ZeroJob("22") {}
};

// Parameters whose elements don't divide by the ranks are padded.
TEST_F(UnevenZero, PartsAreExactToo) {
  const auto one = steps(kExact + Arguments{"--mode", "single", "--batch-size", "6"});
  for (const int stage : {2, 3}) {
    const auto many = steps(
        kExact + Arguments{"--mode", "zero" + std::to_string(stage), "--ranks", "3", "--batch-size", "2"});
    EXPECT_LT(largest_difference(one, many), 1e-9) << stage;
  }
}

// The configurations of shared/configs as they stand, in bfloat16, beside one process in float32.
class SharedConfigs : public ZeroJob, public testing::WithParamInterface<std::tuple<const char*, int>> {};

TEST_P(SharedConfigs, TrainAsTheyStand) {
  const auto& [name, batch] = GetParam();
  const std::string path = std::string(LOCKSTEP_SOURCE_DIR) + "/../shared/configs/" + name;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const auto one = steps({"--mode", "single", "--batch-size", "16", "--steps", "6"});
  const auto many =
      steps({"--deepspeed", path, "--ranks", "2", "--batch-size", std::to_string(batch), "--steps", "6"});
  EXPECT_LT(largest_difference(one, many, {"loss"}), 2e-2);
  EXPECT_GT(largest_difference(one, many, {"loss"}), 1e-9);  // it was bfloat16
  EXPECT_LT(many.back().at("loss"), many.front().at("loss"));
}

INSTANTIATE_TEST_SUITE_P(Files, SharedConfigs,
                         testing::Values(std::tuple("zero2.json", 2), std::tuple("zero3.json", 2),
                                         std::tuple("zero3-cpu-offload.json", 1),
                                         std::tuple("llama-3-8b-stage3.json", 8)));

}  // namespace
}  // namespace lockstep::trainer

// In float32, as models are trained: every mode reaches the losses of one process on the same global batch.
// In float64 they agree to 1e-9 (the tests of each mode); here sums in another order may differ by what
// float32 resolves, and what the optimizer makes of that over 20 steps.
#include <gtest/gtest.h>

#include <map>

#include "reference_trainer/tests/small_job.h"
#include "reference_trainer/tests/tried_modes.h"

namespace lockstep::trainer {
namespace {

using nlohmann::json;

constexpr int kBatch = 8;  // sequences of a step

class Float32 : public SmallJob, public testing::WithParamInterface<TriedJob> {
 protected:
  Float32() : SmallJob({"--hidden", "24", "--heads", "2", "--sequence-length", "16"}) {}

  // Trained once for all tests of this file.
  const std::vector<json>& one_process(const Arguments& job) const {
    static std::map<Arguments, std::vector<json>> trained;
    std::vector<json>& one = trained[job];
    if (one.empty()) one = steps(job + Arguments{"--mode", "single", "--batch-size", std::to_string(kBatch)});
    return one;
  }
};

TEST_P(Float32, EqualsOneProcess) {
  const TriedJob& way = GetParam();
  const Arguments job{"--layers", std::to_string(way.layers), "--steps", "20"};
  Arguments flags{"--ranks", std::to_string(way.ranks)};
  if (!way.zero_optimization.is_null()) {
    write_file(folder_.file("deepspeed.json"), json{{"zero_optimization", way.zero_optimization}}.dump());
    flags = flags + Arguments{"--deepspeed", folder_.file("deepspeed.json")};
  }
  const auto many = steps(job + flags + way.flags);
  ASSERT_EQ(many.size(), 20u);
  EXPECT_LT(largest_difference(one_process(job), many, {"loss"}), 1e-4);
  EXPECT_LT(many.back().at("loss"), many.front().at("loss"));
}

INSTANTIATE_TEST_SUITE_P(Modes, Float32, testing::ValuesIn(tried_jobs("float32")), [](const auto& info) {
  return info.param.name + "_" + std::to_string(info.param.ranks);
});

}  // namespace
}  // namespace lockstep::trainer

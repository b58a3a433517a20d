// Parameters, gradients and optimizer state that a rank holds, beside the formulas of the field, in every
// mode.
#include <gmock/gmock.h>

#include "reference_trainer/tests/small_job.h"
#include "reference_trainer/tests/tried_modes.h"

namespace lockstep::trainer {
namespace {

using nlohmann::json;

class Memory : public SmallJob, public testing::WithParamInterface<TriedMode> {
 protected:
  Memory()
      : SmallJob({"--layers", "4", "--hidden", "32", "--heads", "2", "--sequence-length", "8", "--batch-size",
                  "1", "--steps", "2"}) {}
};

// Padding to whole parts, and nothing else, is more than theory.
TEST_P(Memory, IsTheorys) {
  const Arguments mode = Arguments{"--mode", GetParam().name} + GetParam().flags;
  for (const char* ranks : {"2", "4"}) {
    for (const char* type : {"float32", "bfloat16"}) {
      const std::vector<json> memory =
          events(log(mode + Arguments{"--ranks", ranks, "--dtype", type}), "memory");
      ASSERT_EQ(memory.size(), 1u);
      const json& theory = memory.front().at("theory");
      double held = 0, expected = 0;
      for (const char* kind : {"parameters", "gradients", "optimizer"}) {
        held += memory.front().at(kind).get<double>();
        expected += theory.at(kind).get<double>();
      }
      EXPECT_NEAR(held / expected, 1, 0.02) << ranks << " ranks, " << type << ": " << memory.front();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, Memory, testing::ValuesIn(tried_modes()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace lockstep::trainer

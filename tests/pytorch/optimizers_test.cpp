// Unedited programs whose optimizers come and go: each of their steps is one of the recording's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/end_to_end/support.h"
#include "tests/pytorch/torchrun.h"
#include "trace/reader.h"

namespace lockstep::end_to_end {
namespace {

class Optimizers : public TorchTest, public testing::WithParamInterface<const char*> {
 protected:
  TemporaryFolder folder_;
};

TEST_P(Optimizers, ThatComeAndGoMakeAsManySteps) {
  const Outcome recorded =
      run({binary("lockstep"), "record", "--quiet", "-o", folder_ / "run", "--", LOCKSTEP_PYTHON,
           LOCKSTEP_SOURCE_DIR "/tests/pytorch/optimizers_job.py", GetParam()},
          kQuietEnvironment);
  ASSERT_EQ(recorded.exit_code, 0) << recorded.standard_error;
  const std::size_t made = std::stoul(recorded.standard_output);
  EXPECT_EQ(made, 60U);
  std::string file;  // of the only process
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "run"))
    if (entry.path().extension() == ".lst") file = entry.path();
  const Result<trace::Reader> opened = trace::Reader::open(file);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  std::vector<trace::Step> steps;
  ASSERT_TRUE(opened.value().read(trace::Selection{}, steps).ok());
  ASSERT_EQ(steps.size(), made);
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(steps[i].number, static_cast<std::int64_t>(i));
}

INSTANTIATE_TEST_SUITE_P(Modes, Optimizers, testing::Values("kept", "anew", "scheduled", "two_anew", "outer"),
                         [](const testing::TestParamInfo<const char*>& mode) {
                           return std::string(mode.param);
                         });

}  // namespace
}  // namespace lockstep::end_to_end

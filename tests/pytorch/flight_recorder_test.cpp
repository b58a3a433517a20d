// What PyTorch's own flight recorder dumps of a job in which a rank leaves out an operation: `lockstep
// analyze` names it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/end_to_end/support.h"
#include "tests/pytorch/torchrun.h"

namespace lockstep::end_to_end {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr int kNoFlightRecorder = 4;

class PytorchFlightRecorder : public TorchTest, public testing::WithParamInterface<const char*> {};

TEST_P(PytorchFlightRecorder, TheRankThatNeverCameIsNamed) {
  const TemporaryFolder folder;
  const std::string job = LOCKSTEP_SOURCE_DIR "/tests/pytorch/flight_recorder_job.py";
  const Outcome ran = run(
      {"/bin/sh", "-c",
       fmt::format(
           "for r in 0 1; do RANK=$r {} {} {} & p=\"$p $!\"; done; for i in $p; do wait $i || exit $?; done",
           LOCKSTEP_PYTHON, job, folder.path().string())},
      {"WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1", fmt::format("MASTER_PORT={}", free_port())});
  if (ran.exit_code == kNoFlightRecorder) GTEST_SKIP() << "SKIPPED: this PyTorch fills none on Gloo";
  ASSERT_EQ(ran.exit_code, 0) << ran.standard_error;
  const std::string name = GetParam();
  const Outcome analyzed = run({binary("lockstep"), "analyze", folder / fmt::format(fmt::runtime(name), 0),
                                folder / fmt::format(fmt::runtime(name), 1), "--json", "-"});
  ASSERT_EQ(analyzed.exit_code, 0) << analyzed.standard_error;
  const nlohmann::json report = nlohmann::json::parse(analyzed.standard_output);
  ASSERT_FALSE(report.at("findings").empty()) << report;
  const nlohmann::json& finding = report.at("findings").at(0);
  EXPECT_EQ(finding.at("code"), "hang");
  EXPECT_EQ(finding.at("title"),
            "the job hung in gloo:all_reduce (group data parallel, number 4): rank 1 never came");
  EXPECT_THAT(finding.at("evidence").get<std::vector<std::string>>(),
              Contains(HasSubstr("issued number 3 of this group last")));
}

INSTANTIATE_TEST_SUITE_P(Formats, PytorchFlightRecorder,
                         testing::Values("nccl_trace_rank_{}", "json_rank_{}.json"),
                         [](const auto& info) { return info.index == 0 ? "pickle" : "json"; });

}  // namespace
}  // namespace lockstep::end_to_end

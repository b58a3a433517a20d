// Jobs whose workers torchrun starts anew, recorded from outside and with a recorder a rank: the last attempt
// is the job, and nothing of the one before is lost.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/end_to_end/support.h"
#include "tests/pytorch/torchrun.h"
#include "trace/reader.h"

namespace lockstep::end_to_end {
namespace {

using testing::HasSubstr;

// A store of its own for each attempt: that which PyTorch 2.11 shares between them holds addresses of the one
// before, and whoever is first meets nobody there.
const std::vector<std::string> kEnvironment{"OMP_NUM_THREADS=1", "PYTHONWARNINGS=ignore",
                                            "TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1"};
constexpr std::size_t kSteps = 4;  // of the second attempt

std::vector<std::string> joined(std::vector<std::string> one, const std::vector<std::string>& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

std::vector<std::string> torchrun(const std::vector<std::string>& options) {
  return joined({LOCKSTEP_PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
                 "--max-restarts", "1"},
                options);
}

std::vector<std::string> job(const std::string& output) {
  return {LOCKSTEP_SOURCE_DIR "/tests/pytorch/jobs.py", "restarted", output};
}

std::vector<std::string> recorded(const std::string& run) {
  return {binary("lockstep"), "record", "-o", run, "--"};
}

std::size_t steps_of(const std::string& file) {
  const Result<trace::Reader> reader = trace::Reader::open(file);
  if (!reader.ok()) {
    ADD_FAILURE() << reader.error().message;
    return 0;
  }
  return reader.value().count(trace::EventKind::step);
}

void expect_both_attempts(const std::string& run_folder) {
  for (int rank = 0; rank < 2; ++rank) {
    SCOPED_TRACE(fmt::format("rank {}", rank));
    EXPECT_GE(steps_of(fmt::format("{}/rank-{}.lst", run_folder, rank)), 1U);
    EXPECT_EQ(steps_of(fmt::format("{}/rank-{}-restart-1.lst", run_folder, rank)), kSteps);
  }
  const TemporaryFolder folder;
  const Outcome report = run({binary("lockstep"), "analyze", run_folder, "--json", folder / "report.json"});
  EXPECT_EQ(report.exit_code, 0) << report.standard_error;
  EXPECT_THAT(report.standard_output + report.standard_error,
              HasSubstr("torchrun started the workers anew once; this is the last attempt"));
}

class PytorchRestart : public TorchTest {
 protected:
  TemporaryFolder folder_;
  const std::string run_ = folder_ / "run";
};

TEST_F(PytorchRestart, OneRecorderAroundTorchrunHasBothAttempts) {
  const Outcome outcome = run(joined(recorded(run_), torchrun(job(folder_ / "own"))), kEnvironment);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  SCOPED_TRACE(outcome.standard_error);
  expect_both_attempts(run_);
}

TEST_F(PytorchRestart, ARecorderOfEachRankHasBothAttempts) {
  const std::vector<std::string> worker =
      joined(joined(recorded(run_), {LOCKSTEP_PYTHON}), job(folder_ / "own"));
  const Outcome outcome = run(torchrun(joined({"--no-python"}, worker)), kEnvironment);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  SCOPED_TRACE(outcome.standard_error);
  expect_both_attempts(run_);
  for (const char* manifest : {"manifest.json", "manifest-rank-1.json", "manifest-rank-0-restart-1.json",
                               "manifest-rank-1-restart-1.json"})
    EXPECT_TRUE(std::filesystem::exists(folder_ / (std::string("run/") + manifest))) << manifest;
}

}  // namespace
}  // namespace lockstep::end_to_end

// `lockstep record --hang-timeout` of an unmodified PyTorch program: its Python stacks come by the way that
// every version of CPython has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/end_to_end/background_run.h"
#include "tests/end_to_end/support.h"
#include "tests/pytorch/torchrun.h"

namespace lockstep::end_to_end {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class PytorchHang : public TorchTest {};

TEST_F(PytorchHang, TheStacksAreThoseThatFaulthandlerWrites) {
  const TemporaryFolder folder;
  const std::string go = folder / "go";
  BackgroundRun job(folder,
                    {binary("lockstep"), "record", "-o", folder / "run", "--hang-timeout", "2s", "--",
                     LOCKSTEP_PYTHON, LOCKSTEP_SOURCE_DIR "/tests/pytorch/hang_job.py", go},
                    {"RANK=0", "WORLD_SIZE=1", "PYTHONWARNINGS=ignore"});
  // A slow machine may be silent for as long while it imports: that is another hang, and kept as such.
  nlohmann::json document;
  ASSERT_TRUE(eventually([&] {
    std::ifstream file(folder / "run/hang-rank-0.json");
    document = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
    return document.is_object() &&
           document.value("python", "").find("in wait_for_a_batch") != std::string::npos;
  })) << job.error_output();
  EXPECT_THAT(document.at("doing").get<std::string>(), HasSubstr("hang_job.py"));
  // Looking at it was no sign of life: the same silence is written down once.
  const auto written_down = [&] {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "run"))
      files += entry.path().filename().string().starts_with("hang-") ? 1 : 0;
    return files;
  };
  const std::size_t before = written_down();
  sleep(5);  // more than twice the timeout
  EXPECT_EQ(written_down(), before) << job.error_output();
  std::ofstream(go) << "go";
  const Outcome outcome = job.finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  EXPECT_EQ(outcome.standard_output, "stacks: True\n");
}

// As a terminal does: the signal goes to the launcher, its workers and the recorder, and who waits in the
// operation leaves it only because the others die.
TEST_F(PytorchHang, OneThatIsEndedByControlCIsAHangAndNoFailure) {
  const TemporaryFolder folder;
  const std::string absent = folder / "absent";
  BackgroundRun job(folder,
                    {binary("lockstep"), "record", "-o", folder / "run", "--", LOCKSTEP_PYTHON, "-m",
                     "torch.distributed.run", "--standalone", "--nproc-per-node", "3",
                     LOCKSTEP_SOURCE_DIR "/tests/pytorch/absent_rank_job.py", absent},
                    {"PYTHONWARNINGS=ignore", "OMP_NUM_THREADS=1"});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(absent); })) << job.error_output();
  sleep(15);  // as long as a hang: ten times the longest operation, on a slow machine too
  ASSERT_EQ(kill(-job.process(), SIGINT), 0);
  const Outcome outcome = job.finish();
  EXPECT_THAT(outcome.standard_error, HasSubstr("the command was interrupted by Ctrl-C (SIGINT) after"));
  std::ifstream file(folder / "run/manifest.json");
  const nlohmann::json manifest = nlohmann::json::parse(file);
  EXPECT_EQ(manifest.at("interrupted").at("signal").at("name"), "SIGINT");
  EXPECT_GT(manifest.at("interrupted").at("time_realtime"), manifest.at("start_realtime"));

  const Outcome analyzed = run({binary("lockstep"), "analyze", folder / "run", "--json", "-"});
  ASSERT_EQ(analyzed.exit_code, 0) << analyzed.standard_error;
  const nlohmann::json report = nlohmann::json::parse(analyzed.standard_output);
  const nlohmann::json& first = report.at("findings").at(0);
  EXPECT_EQ(first.at("code"), "hang");
  EXPECT_THAT(first.at("title").get<std::string>(), EndsWith("rank 2 never came"));
  EXPECT_THAT(first.at("evidence").at(0).get<std::string>(), StartsWith("ranks 0, 1 wait in it"));
  EXPECT_TRUE(first.at("place").is_object());
  for (const nlohmann::json& finding : report.at("findings")) EXPECT_NE(finding.at("code"), "job_failed");
  EXPECT_EQ(report.at("run").at("steps").size(), 10U) << "all that were done, the last one too";
  // Nothing of the hang is transfer.
  for (const nlohmann::json& rank : report.at("ranks"))
    EXPECT_LT(rank.at("partition").at("transfer"), 5'000'000'000) << rank;
}

}  // namespace
}  // namespace lockstep::end_to_end

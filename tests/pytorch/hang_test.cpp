// `lockstep record --hang-timeout` of an unmodified PyTorch program: its Python stacks come by the way that
// every version of CPython has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/end_to_end/background_run.h"
#include "tests/end_to_end/support.h"

namespace lockstep::end_to_end {
namespace {

using testing::HasSubstr;

TEST(PytorchHang, TheStacksAreThoseThatFaulthandlerWrites) {
  if (!why_no_torch_here().empty()) GTEST_SKIP() << "SKIPPED: " << why_no_torch_here();
  if (run({LOCKSTEP_PYTHON, "-c", "import torch"}).exit_code != 0)
    GTEST_SKIP() << "SKIPPED: " << LOCKSTEP_PYTHON << " has no torch";
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

}  // namespace
}  // namespace lockstep::end_to_end

// `lockstep record --ring` of an unmodified PyTorch program: the step that made it write is in what it wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/end_to_end/support.h"
#include "tests/pytorch/torchrun.h"
#include "trace/reader.h"

namespace lockstep::end_to_end {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

class PytorchRing : public TorchTest {};

TEST_F(PytorchRing, TheSlowStepThatMadeItWriteIsWritten) {
  const TemporaryFolder folder;
  // At the end of the job the ring has long forgotten the slow step: what is there of it was written because
  // of it.
  const Outcome outcome =
      run({binary("lockstep"), "record", "-o", folder / "run", "--ring", "1500ms", "--ring-factor", "4", "--",
           LOCKSTEP_PYTHON, LOCKSTEP_SOURCE_DIR "/tests/pytorch/ring_job.py", "20", "5"},
          {"RANK=0", "WORLD_SIZE=1", "PYTHONWARNINGS=ignore"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
  EXPECT_THAT(outcome.standard_error, HasSubstr("--ring was written: step 20 took "));
  const Result<trace::Reader> reader = trace::Reader::open(folder / "run/rank-0.lst");
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  std::vector<trace::Step> steps;
  ASSERT_TRUE(reader.value().read({}, steps).ok());
  const auto slow =
      std::find_if(steps.begin(), steps.end(), [](const auto& step) { return step.number == 20; });
  ASSERT_NE(slow, steps.end());
  EXPECT_GE(slow->end - slow->begin, 1'000'000'000);
  std::vector<std::int64_t> numbers;
  for (const trace::Step& step : steps) numbers.push_back(step.number);
  EXPECT_THAT(numbers, Contains(19)) << "the one before it, too";
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(std::adjacent_find(numbers.begin(), numbers.end()), numbers.end()) << "each is told once";
  std::ifstream file(folder / "run/manifest.json");
  const nlohmann::json manifest = nlohmann::json::parse(file);
  EXPECT_THAT(manifest.at("ranks").at(0).at("saved").get<std::vector<std::string>>(),
              Contains(StartsWith("step 20 took ")));
}

}  // namespace
}  // namespace lockstep::end_to_end

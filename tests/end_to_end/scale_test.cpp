// `lockstep scale` as it is typed: it makes its runs, goes on where it was interrupted, and says what is
// wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/end_to_end/kineto_files.h"
#include "tests/end_to_end/support.h"

namespace lockstep::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Scale : public testing::Test {
 protected:
  static Outcome scale(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {binary("lockstep"), "scale"});
    return run(arguments);
  }
  // Steps of some 20 ms on a modelled accelerator, on one rank and on two.
  Outcome sweep(const std::vector<std::string>& flags) {
    std::vector<std::string> arguments{"--ranks", "1,2", "--runs", "1", "-o", folder_ / "sweep"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    for (const char* word : {"--",           "train", "--device", "paced", "--flops",           "2e9",
                             "--bandwidth",  "100e6", "--mode",   "ddp",   "--layers",          "2",
                             "--hidden",     "32",    "--heads",  "2",     "--sequence-length", "32",
                             "--batch-size", "2",     "--steps",  "8"})
      arguments.emplace_back(word == std::string("train") ? binary("lockstep-train") : word);
    return scale(arguments);
  }

  const TemporaryFolder folder_;
};

TEST_F(Scale, MakesItsRunsAndGoesOnWhereItStopped) {
  const Outcome first = sweep({"--json", "-"});
  ASSERT_EQ(first.exit_code, 0) << first.standard_error;
  const nlohmann::json json = nlohmann::json::parse(first.standard_output);
  EXPECT_EQ(json.at("schema"), "lockstep.scale/1");
  ASSERT_EQ(json.at("sizes").size(), 2U);
  EXPECT_EQ(json.at("sizes").at(1).at("ranks"), 2);
  for (const auto& size : json.at("sizes")) {
    std::int64_t loss = 0;
    for (const auto& cause : size.at("loss_by_cause_ns")) loss += cause.get<std::int64_t>();
    EXPECT_EQ(loss, size.at("loss_ns"));
  }
  EXPECT_LT(json.at("sizes").at(1).at("efficiency").at("value"), 1.0) << "two ranks have to all-reduce";

  // Nothing is run again, and the result is the same.
  const Outcome again = sweep({"--json", "-"});
  EXPECT_EQ(again.standard_output, first.standard_output);
  EXPECT_THAT(again.standard_error, AllOf(HasSubstr("run-1 is there"), Not(HasSubstr("moved aside"))));

  // A run that was killed is made again, and what there was of it is kept.
  std::ofstream(folder_ / "sweep/ranks-2/run-1/manifest.json") << "{}";
  EXPECT_THAT(sweep({}).standard_error, HasSubstr("is a run of another command"));
  std::ofstream(folder_ / "sweep/ranks-2/run-1/manifest.json") << "";
  const Outcome resumed = sweep({"--html", folder_ / "scale.html"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.standard_error;
  EXPECT_THAT(resumed.standard_output, AllOf(HasSubstr("scaling efficiency"), HasSubstr("lost to")));
  EXPECT_TRUE(fs::exists(folder_ / "sweep/ranks-2/run-1-unfinished-1"));
  EXPECT_THAT(test::read_whole_file(folder_ / "scale.html"), HasSubstr("<svg"));
}

TEST_F(Scale, AJobThatFailsIsAnError) {
  const Outcome failed = scale({"--ranks", "1,2", "-o", folder_ / "failing", "--", "/bin/sh", "-c",
                                "echo from the job; exit 7", "{ranks}"});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.standard_output, IsEmpty());
  EXPECT_THAT(failed.standard_error,
              AllOf(HasSubstr("from the job"), HasSubstr("the run on 1 rank ended with exit code 7")));
}

TEST_F(Scale, BadInputSaysWhatToDo) {
  const auto expect_bad = [&](const std::vector<std::string>& arguments, int code,
                              const std::string& message) {
    const Outcome bad = scale(arguments);
    EXPECT_EQ(bad.exit_code, code) << message;
    EXPECT_THAT(bad.standard_error, HasSubstr(message));
    EXPECT_THAT(bad.standard_output, IsEmpty());
  };
  expect_bad({}, 2, "give runs to compare, or --ranks 1,2,4 and a command behind --");
  expect_bad({"--ranks", "4", "--", "torchrun", "x.py"}, 2, "--ranks 4: give two numbers of ranks or more");
  expect_bad({"--ranks", "1,x", "--", "torchrun", "x.py"}, 2, "--ranks 1,x");
  expect_bad({"--ranks", "1,2", "--"}, 2, "there is no command behind --");
  expect_bad({"--ranks", "1,2", "--", "./train"}, 2, "does not say on how many ranks it runs");
  expect_bad({"run", "--ranks", "1,2", "--", "torchrun", "x.py"}, 2, "not both");
  for (const int number : {1, 2})
    write_training_run(folder_ / ("run" + std::to_string(number)), number, 8, [](int, int) { return 1000; });
  expect_bad({folder_ / "run1", folder_ / "run2"}, 1, "all runs have 2 ranks");
  expect_bad({folder_ / "run1", folder_ / "nowhere"}, 1, "nowhere");
}

}  // namespace
}  // namespace lockstep::end_to_end

// Names that somebody else chose (files, hosts, kernels, process groups) reach a terminal as text alone,
// whatever became of the command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/end_to_end/kineto_files.h"
#include "tests/end_to_end/recorded_run.h"

namespace lockstep::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Colours what follows, rings the bell, and "escape [" in one character (C1).
const std::string kHostile = "a\x1b[31m\x07\u009B31m";
// The same in JSON.
const std::string kHostileInJson = R"(a\u001b[31m\u0007\u009b31m)";

void replace_all(std::string& text, const std::string& old, const std::string& with) {
  for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + with.size()))
    text.replace(at, old.size(), with);
}

// In each file of the folder.
void replace_in_files(const fs::path& folder, const std::string& old, const std::string& with) {
  for (const auto& file : fs::directory_iterator(folder)) {
    std::string text = test::read_whole_file(file.path());
    replace_all(text, old, with);
    std::ofstream(file.path(), std::ios::binary) << text;
  }
}

class HostileNames : public testing::Test {
 protected:
  // A run whose folder, kernels and process group have such names.
  std::string training_run(int ranks = 2) {
    const std::string path = folder_ / (kHostile + std::to_string(++runs_));
    const int computes_us = 1000 + runs_ % 3;
    write_training_run(
        path, runs_, 8, [=](int, int) { return computes_us; }, ranks);
    replace_in_files(path, R"("name": "gemm")", R"("name": "gemm)" + kHostileInJson + '"');
    replace_in_files(path, R"("Process Group Name": "0")",
                     R"("Process Group Name": "dp)" + kHostileInJson + '"');
    return path;
  }
  static Outcome expect_text_alone(const std::vector<std::string>& arguments) {
    std::vector<std::string> command = arguments;
    command.insert(command.begin(), binary("lockstep"));
    const Outcome outcome = run(command);
    EXPECT_THAT(outcome.standard_output + outcome.standard_error,
                AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\x07")), Not(HasSubstr("\u009B"))))
        << arguments[0];
    return outcome;
  }
  static Outcome expect_success(const std::vector<std::string>& arguments) {
    const Outcome outcome = expect_text_alone(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << arguments[0] << ": " << outcome.standard_error;
    return outcome;
  }

  const TemporaryFolder folder_;
  int runs_ = 0;
};

TEST_F(HostileNames, AreShownAsWhatTheyAreWhereAVerbFails) {
  const std::string hostile = folder_ / kHostile;
  using Arguments = std::vector<std::string>;
  for (const Arguments& command :
       {Arguments{"analyze", hostile}, Arguments{"export", "-f", "csv", hostile},
        Arguments{"collect", "-o", hostile + "/out", hostile}, Arguments{"explain", hostile},
        Arguments{"baseline", "show", hostile}, Arguments{"check", hostile, "--baseline", hostile},
        Arguments{"diff", hostile, hostile + "2"}, Arguments{"scale", hostile, hostile + "2"},
        Arguments{hostile}, Arguments{"record", "-o", hostile + "/run", "--", "false"}})
    EXPECT_NE(expect_text_alone(command).exit_code, 0) << command[0];
  if (!fs::exists(binary("lockstep-train"))) return;  // a build without the trainer
  for (const char* flag : {"--mode", "--text"})
    EXPECT_NE(expect_text_alone({"train", flag, hostile}).exit_code, 0) << flag;
}

TEST_F(HostileNames, AreShownAsWhatTheyAreInReports) {
  const std::string run = training_run(), other = training_run(), output = folder_ / (kHostile + "out");
  expect_success({"analyze", run});
  expect_success({"analyze", run, "--ascii"});
  expect_success({"analyze", run, "--range", "1ms:2ms"});
  expect_success({"diff", run, other});
  expect_success({"scale", training_run(1), run});
  expect_success({"doctor", "--", output});
  EXPECT_THAT(expect_success({"export", "-f", "chrome", run, "-o", output + ".json"}).standard_output,
              HasSubstr("/a\\x1B[31m\\x07\\x9B31mout.json"));
  EXPECT_THAT(expect_success({"export", "-f", "csv", run, "-o", output}).standard_output,
              HasSubstr("/a\\x1B[31m\\x07\\x9B31mout"));
}

TEST_F(HostileNames, AreShownAsWhatTheyAreByTheGate) {
  const std::string baseline = folder_ / (kHostile + ".json");
  const std::string policy = folder_.write(
      kHostile + ".toml", "[[figure]]\nname = \"step_time\"\ntolerance = \"3 %\"\nfloor = \"1 us\"\n");
  EXPECT_THAT(
      expect_success({"baseline", "save", training_run(), training_run(), training_run(), "-o", baseline})
          .standard_output,
      HasSubstr("/a\\x1B[31m\\x07\\x9B31m.json: 3 runs"));
  const std::string shown = expect_success({"baseline", "show", baseline}).standard_output;
  EXPECT_THAT(shown, HasSubstr("/a\\x1B[31m\\x07\\x9B31m1: 2 ranks")) << "a run's path";
  EXPECT_THAT(shown, HasSubstr("dpa\\x1B[31m\\x07\\x9B31m")) << "a group's name";
  expect_success({"baseline", "verify", baseline, "--policy", policy});
  expect_success(
      {"check", training_run(), training_run(), training_run(), "--baseline", baseline, "--policy", policy});
}

TEST_F(HostileNames, AreShownAsWhatTheyAreByTheRecorder) {
  const std::string run = folder_ / (kHostile + "run");
  std::vector<std::string> command{"record", "-o", run, "--"};
  for (const std::string& word : behave({"leave", "0"})) command.push_back(word);
  expect_success(command);
  EXPECT_THAT(
      expect_success({"collect", "-o", run + "2", run}).standard_output,
      HasSubstr("next: lockstep analyze " + folder_.path().string() + "/a\\x1B[31m\\x07\\x9B31mrun2\n"));
  // A process of another host, as far as what is in the run folder says.
  fs::create_directories(run + "/control");
  std::ofstream(run + "/control/rank-9") << "host=" << kHostile << "\nprocess=1\nsocket=/no/such\n";
  EXPECT_THAT(expect_success({"record", "--attach", run, "status"}).standard_output,
              HasSubstr("on a\\x1B[31m\\x07\\x9B31m: ask there\n"));
}

}  // namespace
}  // namespace lockstep::end_to_end

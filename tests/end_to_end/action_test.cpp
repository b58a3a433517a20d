// action.yml's shell, run as GitHub's runner runs it: what it tells the workflow, and its exit codes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/end_to_end/kineto_files.h"
#include "tests/end_to_end/support.h"

namespace lockstep::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// What stands behind "run: |", without its indentation.
std::string shell_of_action() {
  std::istringstream action(test::read_whole_file(LOCKSTEP_SOURCE_DIR "/action.yml"));
  const std::string begin = "      run: |", indentation = "        ";
  std::string script;
  bool within = false;
  for (std::string line; std::getline(action, line);) {
    if (within && line.starts_with(indentation)) script += line.substr(indentation.size()) + "\n";
    within = within || line == begin;
  }
  return script;
}

class Action : public testing::Test {
 protected:
  std::string runs_of(const std::vector<int>& computes) {
    std::string paths;
    for (const int compute_us : computes) {
      const std::string path = folder_ / fmt::format("run{}", ++count_);
      write_training_run(path, count_, 8, [=](int, int) { return compute_us; });
      paths += (paths.empty() ? "" : " ") + path;
    }
    return paths;
  }
  Outcome act(const std::string& runs, const std::string& save = "false") {
    std::ofstream(folder_ / "output") << "";
    // As the runner does: bash --noprofile --norc -eo pipefail.
    return run({"/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c",
                fmt::format("cd '{}'\n{}", folder_.path().string(), shell_of_action())},
               {"RUNS=" + runs, "BASELINE=main.json", "POLICY=gate.toml", "INCONCLUSIVE=fail", "SAVE=" + save,
                "LOCKSTEP=" + binary("lockstep"), "GITHUB_STEP_SUMMARY=summary.md", "GITHUB_OUTPUT=output"});
  }
  std::string output() { return test::read_whole_file(folder_ / "output"); }

  const TemporaryFolder folder_;
  int count_ = 0;
};

TEST_F(Action, TellsTheWorkflowWhatCameOut) {
  folder_.write("gate.toml", "[[figure]]\nname = \"step_time\"\ntolerance = \"3 %\"\nfloor = \"1 us\"\n");
  const std::string main = runs_of({1000, 1002, 998});
  EXPECT_EQ(act(main).exit_code, 4);
  EXPECT_EQ(output(), "outcome=no_baseline\n");
  const Outcome first = act(main, "true");
  EXPECT_EQ(first.exit_code, 4) << "it wrote one, and compared nothing";
  EXPECT_EQ(output(), "outcome=no_baseline\n");
  EXPECT_THAT(first.standard_output, HasSubstr("::warning title=Lockstep::nothing was compared"));
  EXPECT_EQ(act(runs_of({1001, 999, 1000})).exit_code, 0);
  EXPECT_EQ(output(), "outcome=pass\n");
  const Outcome slow = act(runs_of({1101, 1099, 1100}));
  EXPECT_EQ(slow.exit_code, 1);
  EXPECT_EQ(output(), "outcome=fail\n");
  EXPECT_THAT(slow.standard_output, HasSubstr("::error title=Lockstep::"));
  EXPECT_THAT(test::read_whole_file(folder_ / "summary.md"), HasSubstr("### ❌ Lockstep"));
  EXPECT_THAT(test::read_whole_file(folder_ / "lockstep-check.xml"), HasSubstr("failures=\"1\""));
  const Outcome wide = act(runs_of({1000, 1090, 950}));
  EXPECT_EQ(wide.exit_code, 3);
  EXPECT_EQ(output(), "outcome=undecided\n");
  EXPECT_THAT(wide.standard_output, HasSubstr("::warning title=Lockstep::undecided"));
  EXPECT_EQ(act(folder_ / "nowhere").exit_code, 2);
  EXPECT_EQ(output(), "outcome=bad_input\n");
}

}  // namespace
}  // namespace lockstep::end_to_end

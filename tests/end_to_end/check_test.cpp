// `lockstep check` and `lockstep baseline` as a pipeline runs them: exit codes, outputs, what is said of bad
// input.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/end_to_end/kineto_files.h"
#include "tests/end_to_end/support.h"
#include "tests/sanitizers.h"

namespace lockstep::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Outcome shell(const std::string& command) {
  return run({"/bin/sh", "-c", command});
}

class Check : public testing::Test {
 protected:
  // A run of two ranks, each of whose steps computes for so many µs.
  std::string run_of(int compute_us, int steps = 8) {
    const std::string path = folder_ / fmt::format("run{}", ++count_);
    write_training_run(path, count_, steps, [=](int, int) { return compute_us; });
    return path;
  }
  std::vector<std::string> runs_of(const std::vector<int>& computes) {
    std::vector<std::string> paths;
    for (const int compute_us : computes) paths.push_back(run_of(compute_us));
    return paths;
  }
  // The same of a profiler that does not write down the time of day.
  std::string timeless_run_of(int compute_us) {
    const std::string path = run_of(compute_us);
    for (const auto& file : fs::directory_iterator(path)) {
      std::string text = test::read_whole_file(file.path());
      const std::size_t begin = text.find("\"baseTimeNanoseconds\"");
      text.erase(begin, text.find(", ", begin) + 2 - begin);
      std::ofstream(file.path()) << text;
    }
    return path;
  }
  std::string policy(const std::string& text) { return folder_.write("gate.toml", text); }

  static Outcome check(std::vector<std::string> runs, const std::vector<std::string>& flags) {
    runs.insert(runs.begin(), {binary("lockstep"), "check"});
    runs.insert(runs.end(), flags.begin(), flags.end());
    return run(runs);
  }
  // Saves a baseline of runs of these.
  std::string baseline_of(const std::vector<int>& computes) {
    std::vector<std::string> command = runs_of(computes);
    command.insert(command.begin(), {binary("lockstep"), "baseline", "save"});
    command.insert(command.end(), {"-o", folder_ / "main.json"});
    const Outcome saved = run(command);
    EXPECT_EQ(saved.exit_code, 0) << saved.standard_error;
    return folder_ / "main.json";
  }
  // The step's time alone, whose floor of a millisecond is more than these short steps last.
  const std::string step_time_ = "[[figure]]\nname = \"step_time\"\ntolerance = \"3 %\"\nfloor = \"1 us\"\n";

  const TemporaryFolder folder_;
  int count_ = 0;
};

TEST_F(Check, EndsAsThePipelineUnderstands) {
  const std::string main = baseline_of({1000, 1002, 998}), gate = policy(step_time_);
  const Outcome healthy = check(runs_of({1001, 999, 1000}), {"--baseline", main, "--policy", gate});
  EXPECT_EQ(healthy.exit_code, 0) << healthy.standard_error;
  EXPECT_THAT(healthy.standard_output,
              AllOf(HasSubstr("PASS — 1 figure is within its limits"), HasSubstr("within")));
  const Outcome slow = check(runs_of({1101, 1099, 1100}), {"--baseline", main, "--policy", gate});
  EXPECT_EQ(slow.exit_code, 1);
  EXPECT_THAT(
      slow.standard_output,
      AllOf(HasSubstr("FAIL — 1 of 1 figure is worse than allowed: step_time"), HasSubstr("= 1.20 ms + 3 %"),
            HasSubstr("a step takes 100 µs longer in the mean: compute +100 µs")));
  const Outcome one = check({run_of(1100)}, {"--baseline", run_of(1000), "--policy", gate});
  EXPECT_EQ(one.exit_code, 3);
  EXPECT_THAT(one.standard_output, HasSubstr("one run a side does not tell by how much runs differ anyway"));
  const Outcome passed =
      check({run_of(1100)}, {"--baseline", run_of(1000), "--policy", gate, "--inconclusive", "pass"});
  EXPECT_EQ(passed.exit_code, 0);
  EXPECT_THAT(passed.standard_output, HasSubstr("warning: undecided, and passed"));
  EXPECT_THAT(passed.standard_error, HasSubstr("warning: undecided, and passed"));
}

TEST_F(Check, ThereIsNoBaselineAtFirst) {
  const std::string gate = policy(step_time_), path = folder_ / "new.json";
  const std::vector<std::string> runs = runs_of({1000, 1001});
  const Outcome missing = check(runs, {"--baseline", path, "--policy", gate});
  EXPECT_EQ(missing.exit_code, 4);
  EXPECT_THAT(missing.standard_error, AllOf(HasSubstr(path), HasSubstr("--save-if-missing")));
  EXPECT_FALSE(fs::exists(path));
  const Outcome saved = check(runs, {"--baseline", path, "--policy", gate, "--save-if-missing"});
  EXPECT_EQ(saved.exit_code, 4) << "a gate that compared nothing is not green";
  EXPECT_THAT(saved.standard_error, HasSubstr("wrote " + path + " of 2 runs. Nothing was compared with it."));
  EXPECT_THAT(saved.standard_output,
              HasSubstr("NOT COMPARED — nothing was compared: there is no baseline yet"));
  // The runs that made it are no others.
  const Outcome same = check(runs, {"--baseline", path, "--policy", gate, "--save-if-missing"});
  EXPECT_EQ(same.exit_code, 2);
  EXPECT_THAT(same.standard_error, HasSubstr("is a run of the baseline itself"));
  const Outcome shown = run({binary("lockstep"), "baseline", "show", path});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.standard_output, AllOf(HasSubstr("2 runs"), HasSubstr("step_time"), HasSubstr("± ")));
}

TEST_F(Check, WhatFailsOrCannotBeJudgedIsNoBaseline) {
  const std::string path = folder_ / "new.json";
  const auto first = [&](const std::vector<std::string>& runs, const std::string& text) {
    return check(runs, {"--baseline", path, "--policy", policy(text), "--save-if-missing"});
  };
  const std::vector<std::string> runs = runs_of({1000, 1001, 999});
  const std::string bound = "[[figure]]\nname = \"step_time\"\nat_most = ";
  const Outcome slow = first(runs, step_time_ + bound + "\"1 ms\"\n");
  EXPECT_EQ(slow.exit_code, 1);
  EXPECT_THAT(slow.standard_output, HasSubstr("1 of 2 figures is worse than allowed: step_time"));
  EXPECT_THAT(slow.standard_error, HasSubstr(path + " was not written of runs that fail"));
  EXPECT_EQ(first(runs, step_time_ + "[[figure]]\nname = \"peak_memory\"\n").exit_code, 1);
  EXPECT_EQ(first({run_of(1000), run_of(1000, 3)}, step_time_).exit_code, 2);
  EXPECT_EQ(first({runs[0], runs[0]}, step_time_).exit_code, 2);
  EXPECT_FALSE(fs::exists(path));
  const Outcome unneeded = check(runs, {"--baseline", path, "--policy", policy(bound + "\"2 ms\"\n")});
  EXPECT_EQ(unneeded.exit_code, 0) << "each of its figures was judged";
  EXPECT_THAT(unneeded.standard_output, HasSubstr("warning: --baseline"));
  const Outcome fast = first(runs, step_time_ + bound + "\"2 ms\"\n");
  EXPECT_EQ(fast.exit_code, 4);
  EXPECT_THAT(fast.standard_output, HasSubstr("1 of 2 figures is not compared: step_time"));
  EXPECT_TRUE(fs::exists(path));
}

// Two that agree to the last bit would leave no doubt about anything.
TEST_F(Check, ARunTwiceIsRefusedUnderAnyName) {
  const std::string one = timeless_run_of(1000), other = timeless_run_of(1001),
                    main = baseline_of({1000, 1002}), copy = folder_ / "copy", link = folder_ / "link";
  fs::copy(one, copy, fs::copy_options::recursive);
  fs::create_directory_symlink(one, link);
  const std::vector<std::string> flags{"--policy", policy(step_time_), "--baseline"};
  const auto against = [&](const std::vector<std::string>& runs, const std::vector<std::string>& baseline) {
    std::vector<std::string> all = flags;
    all.insert(all.end(), baseline.begin(), baseline.end());
    return check(runs, all);
  };
  EXPECT_EQ(against({one, other}, {main}).exit_code, 0);
  for (const std::string& name :
       {one, one + "/", one + "/../" + fs::path(one).filename().string(), link, copy})
    for (const Outcome& outcome : {against({one, name}, {main}), against({one}, {other, name})}) {
      EXPECT_EQ(outcome.exit_code, 2) << name;
      EXPECT_THAT(outcome.standard_error, AnyOf(HasSubstr("are the same run: give different ones"),
                                                HasSubstr("is a run of the baseline itself")))
          << name;
    }
  const Outcome saved = run({binary("lockstep"), "baseline", "save", one, link, "-o", folder_ / "new.json"});
  EXPECT_EQ(saved.exit_code, 1);
  EXPECT_FALSE(fs::exists(folder_ / "new.json"));
}

TEST_F(Check, WhatIsExpectedExcusesNothingElse) {
  const std::string main = baseline_of({1000, 1002, 998});
  const std::vector<std::string> slow = runs_of({1101, 1099, 1100});
  const auto expecting = [&](const std::string& figure, const char* until) {
    return check(
        slow, {"--baseline", main, "--policy",
               policy(step_time_ + "[[figure]]\nname = \"goodput\"\nat_least = \"1 %\"\n[[expected]]\n" +
                      fmt::format("figure = \"{}\"\nreason = \"as agreed\"\nuntil = {}\n", figure, until))});
  };
  EXPECT_EQ(expecting("step_time", "2999-12-31").exit_code, 0);
  const Outcome over = expecting("step_time", "2020-02-29");
  EXPECT_EQ(over.exit_code, 1);
  EXPECT_THAT(over.standard_output, HasSubstr("it was expected until 2020-02-29 (as agreed)"));
  const Outcome unknown = expecting("overlap_ratio", "2999-12-31");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.standard_error, HasSubstr("there are step_time and goodput"));
  const std::string all =
      step_time_ + "[[expected]]\nfigure = \"step_time\"\nreason = \"as agreed\"\nuntil = 2999-12-31\n";
  const Outcome nothing = check(slow, {"--baseline", main, "--policy", policy(all)});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(nothing.standard_error, HasSubstr("nothing is left to gate"));
}

TEST_F(Check, WritesWhatOtherProgramsRead) {
  const std::string main = baseline_of({1000, 1002, 998}), gate = policy(step_time_);
  const std::string summary = folder_.write("summary.md", "before\n");
  const Outcome slow =
      check(runs_of({1101, 1099, 1100}), {"--baseline", main, "--policy", gate, "--json", "-", "--junit",
                                          folder_ / "check.xml", "--markdown", summary});
  EXPECT_EQ(slow.exit_code, 1) << slow.standard_error;
  const nlohmann::json verdict = nlohmann::json::parse(slow.standard_output);
  EXPECT_EQ(verdict.at("schema"), "lockstep.check/1");
  EXPECT_EQ(verdict.at("outcome"), "fail");
  EXPECT_EQ(verdict.at("figures").at(0).at("state"), "worse");
  EXPECT_THAT(test::read_whole_file(folder_ / "check.xml"),
              AllOf(HasSubstr("failures=\"1\""), HasSubstr("timestamp=\"20"), HasSubstr("hostname=\"")));
  EXPECT_THAT(test::read_whole_file(summary), AllOf(HasSubstr("before\n"), HasSubstr("### ❌ Lockstep")));
}

TEST_F(Check, KeepsWhatOthersDrawAndWatch) {
  const std::string main = baseline_of({1000, 1002, 998}), gate = policy(step_time_);
  const std::vector<std::string> flags{"--baseline", main,
                                       "--policy",   gate,
                                       "--commit",   "4d8abace",
                                       "--name",     "nanogpt",
                                       "--history",  folder_ / "history.jsonl",
                                       "--export",   "otava=" + (folder_ / "otava.csv"),
                                       "--export",   "bencher=" + (folder_ / "bencher.json")};
  EXPECT_EQ(check(runs_of({1001, 999}), flags).exit_code, 0);
  EXPECT_EQ(check(runs_of({1101, 1099}), flags).exit_code, 1);
  std::istringstream history(test::read_whole_file(folder_ / "history.jsonl"));
  std::vector<nlohmann::json> entries;
  for (std::string line; std::getline(history, line);) entries.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].at("outcome"), "pass");
  EXPECT_EQ(entries[1].at("outcome"), "fail");
  EXPECT_EQ(entries[1].at("commit"), "4d8abace");
  EXPECT_EQ(entries[1].at("figures").at("step_time").at("mean"), 1.3e6);
  std::istringstream otava(test::read_whole_file(folder_ / "otava.csv"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(otava, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], "time,commit,step_time");
  EXPECT_THAT(lines[2], HasSubstr(",4d8abace,1300000"));
  const nlohmann::json bencher = nlohmann::json::parse(test::read_whole_file(folder_ / "bencher.json"));
  EXPECT_EQ(bencher.at("nanogpt").at("step_time").at("value"), 1.3e6);
  const Outcome unknown = check(runs_of({1000}), {"--baseline", main, "--export", "csv=a"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.standard_error, HasSubstr("--export csv=a: give otava=FILE or bencher=FILE"));
  const Outcome other =
      check(runs_of({1000, 1001}), {"--baseline", main, "--export", "otava=" + (folder_ / "otava.csv")});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.standard_error, HasSubstr("its columns are not those of this policy's figures"));
}

TEST_F(Check, BadInputIsExitCodeTwoAndSaysWhatToDo) {
  const std::vector<std::string> runs = runs_of({1000, 1001});
  const std::string main = baseline_of({1000, 1002});
  const auto expect_bad = [&](const std::vector<std::string>& judged, const std::vector<std::string>& flags,
                              const std::string& message) {
    const Outcome bad = check(judged, flags);
    EXPECT_EQ(bad.exit_code, 2) << message;
    EXPECT_THAT(bad.standard_error, HasSubstr(message));
    EXPECT_THAT(bad.standard_output, IsEmpty());
  };
  expect_bad({}, {}, "no run to judge was given");
  expect_bad(runs, {}, "the default policy holds figures to a baseline: give --baseline");
  expect_bad(runs, {"--baseline", main, "--policy", folder_ / "none.toml"}, "there is no such file");
  expect_bad(runs, {"--baseline", main, "--policy", policy("[[figure]]\nname = \"step_tme\"\n")},
             "did you mean 'step_time'?");
  expect_bad(runs, {"--baseline", main, "--policy", policy("")}, "it would check nothing");
  expect_bad({run_of(1000, 3)}, {"--baseline", main, "--policy", policy(step_time_)},
             "3 steady steps to judge, and 5 are needed");
  expect_bad({folder_ / "nowhere"}, {"--baseline", main, "--policy", policy(step_time_)}, "nowhere");
  expect_bad(runs,
             {"--baseline", folder_.write("old.json", R"({"schema": "lockstep.baseline/9"})"), "--policy",
              policy(step_time_)},
             "this version reads lockstep.baseline/1");
}

// 1 says that a figure is worse, and nothing else: what a pipeline tells its people is a regression.
TEST_F(Check, WhatKeepsItFromJudgingIsNoRegression) {
  for (const char* flag : {"--help", "--init", "--figures"})
    EXPECT_EQ(shell(fmt::format("{} check {} >/dev/full", binary("lockstep"), flag)).exit_code, 2) << flag;
  if (kSanitized) GTEST_SKIP() << "a sanitizer takes terabytes of addresses";
  const std::string gate = policy(step_time_),
                    words = fmt::format("check {} {} --baseline {} {} --policy {}", run_of(1000, 1500),
                                        run_of(1001, 1500), run_of(1000, 1500), run_of(1001, 1500), gate);
  // From less memory than it can start with to more than it needs.
  for (int megabytes = 12; megabytes <= 64; megabytes += 2) {
    const Outcome outcome =
        shell(fmt::format("ulimit -v {}; exec {} {}", megabytes * 1024, binary("lockstep"), words));
    EXPECT_NE(outcome.exit_code, 1) << megabytes << " MB: " << outcome.standard_error;
  }
}

TEST_F(Check, ABaselineIsHeldToItselfBeforeItGatesAnything) {
  const auto verify = [&](const std::string& file) {
    return run({binary("lockstep"), "baseline", "verify", file, "--policy", policy(step_time_)});
  };
  const Outcome quiet = verify(baseline_of({1000, 1002, 998}));
  EXPECT_EQ(quiet.exit_code, 0) << quiet.standard_error;
  EXPECT_THAT(quiet.standard_output, AllOf(HasSubstr("is quiet enough for"), HasSubstr("settled")));
  fs::remove(folder_ / "main.json");
  const Outcome few = verify(baseline_of({1000, 1002}));
  EXPECT_EQ(few.exit_code, 3) << "two runs that agree may do so by chance";
  EXPECT_THAT(few.standard_output,
              AllOf(HasSubstr("may be quiet enough for"), HasSubstr("of step_time, 2 runs can't tell"),
                    HasSubstr("3 runs a side would do")));
  fs::remove(folder_ / "main.json");
  const Outcome noisy = verify(baseline_of({1000, 1200, 900}));
  EXPECT_EQ(noisy.exit_code, 3);
  EXPECT_THAT(noisy.standard_output, AllOf(HasSubstr("is not quiet enough for"), HasSubstr("step_time")));
  EXPECT_EQ(verify(folder_ / "nowhere.json").exit_code, 1);
}

TEST_F(Check, ListsFiguresAndWritesAPolicyToBeginWith) {
  const Outcome figures = check({}, {"--figures"});
  EXPECT_EQ(figures.exit_code, 0);
  EXPECT_THAT(figures.standard_output, AllOf(HasSubstr("\nstep_time "), HasSubstr("\nbusbw ")));
  const Outcome first = check({}, {"--init"});
  EXPECT_EQ(first.exit_code, 0);
  const Outcome used = check(runs_of({1000, 1001}), {"--baseline", baseline_of({1000, 1001}), "--policy",
                                                     policy(first.standard_output)});
  EXPECT_NE(used.exit_code, 2) << used.standard_error;
  EXPECT_THAT(used.standard_output, Not(IsEmpty()));
}

}  // namespace
}  // namespace lockstep::end_to_end

// Verbs whose output can't be written, because streams are full or closed or the disk is: an exit code and,
// where there is somebody to tell, a reason; never a signal.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/end_to_end/kineto_files.h"
#include "tests/end_to_end/mount.h"
#include "tests/end_to_end/recorded_run.h"
#include "tests/sanitizers.h"

namespace lockstep::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;

struct CommandLine {
  std::string words;  // for a shell
  int failure = 1;    // its exit code where the output can't be written
};

class VerbsWithoutOutput : public testing::Test {
 protected:
  VerbsWithoutOutput() {
    for (int number = 1; number <= 6; ++number) {
      write_training_run(run_of(number), number, 8, [=](int, int) { return 1000 + number % 3; });
      (number <= 3 ? baseline_runs_ : judged_) += run_of(number) + " ";
    }
    write_training_run(
        of_one_rank_, 7, 8, [](int, int) { return 1000; }, 1);
    folder_.write("gate.toml", "[[figure]]\nname = \"step_time\"\ntolerance = \"3 %\"\nfloor = \"1 us\"\n");
    const Outcome saved = lockstep(fmt::format("baseline save {} -o {}", baseline_runs_, baseline_));
    EXPECT_EQ(saved.exit_code, 0) << saved.standard_error;
  }

  std::string run_of(int number) const { return folder_ / fmt::format("run{}", number); }
  std::string check() const {
    return fmt::format("check {} --baseline {} --policy {}", judged_, baseline_, folder_ / "gate.toml");
  }
  std::string diff() const { return fmt::format("diff {} {}", run_of(1), run_of(2)); }
  std::string scale() const { return fmt::format("scale {} {}", of_one_rank_, run_of(1)); }
  static Outcome lockstep(const std::string& words) { return shell(binary("lockstep") + " " + words); }

  const TemporaryFolder folder_;
  const std::string of_one_rank_ = folder_ / "one", baseline_ = folder_ / "main.json";
  std::string baseline_runs_, judged_;
};

bool has_viewer() {
  return fs::exists(binary("lockstep-view"));
}

TEST_F(VerbsWithoutOutput, FailAndAreNotKilled) {
  RecordedRun run;
  record(run, behave({"leave", "0"}));
  ASSERT_EQ(run.outcome.exit_code, 0);
  std::vector<CommandLine> commands{{"analyze " + run.run_path()},
                                    {"analyze --json - " + run.run_path()},
                                    {"export --force -f chrome -o - " + run.run_path()},
                                    {"explain"},
                                    {"doctor"},
                                    {"help"},
                                    {"version"},
                                    {fmt::format("collect --force -o {0}2 {0}", run.run_path())},
                                    {check(), 2},
                                    {check() + " --json -", 2},
                                    {diff()},
                                    {scale()},
                                    {"baseline show " + baseline_}};
  if (has_viewer()) commands.push_back({"view --help"});
  for (const auto& [words, failure] : commands) {
    for (const char* stream : {">/dev/full", ">&-"}) {
      const Outcome outcome = lockstep(fmt::format("{} {}", words, stream));
      EXPECT_EQ(outcome.exit_code, failure) << words << stream << outcome.standard_error;
      EXPECT_THAT(outcome.standard_error, HasSubstr("cannot write to stdout")) << words << stream;
      EXPECT_EQ(lockstep(fmt::format("{} {} 2>/dev/full", words, stream)).exit_code, failure) << words;
      EXPECT_EQ(lockstep(fmt::format("{} {} 2>&-", words, stream)).exit_code, failure) << words;
    }
    EXPECT_THAT(lockstep(words + " 2>/dev/full").exit_code, AnyOf(0, 1)) << words;
  }
}

TEST_F(VerbsWithoutOutput, HaveAnExitCodeForWrongUsageAllTheSame) {
  std::vector<CommandLine> commands{{"analyze", 2},
                                    {"analyze /nowhere", 1},
                                    {"export --format x y", 2},
                                    {"nothing", 2},
                                    {"", 2},
                                    {"check", 2},
                                    {"diff " + run_of(1), 2},
                                    {"scale", 2},
                                    {"baseline show /nowhere", 1}};
  if (has_viewer()) {
    commands.push_back({"view --nothing", 2});
    commands.push_back({"view --size 1x1", 2});
    commands.push_back({"view --communication '(' " + run_of(1), 2});
    commands.push_back({fmt::format("view /nowhere --screenshot {}", folder_ / "a.png"), 1});
  }
  for (const auto& [words, failure] : commands) {
    for (const char* streams : {"2>/dev/full", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"}) {
      const Outcome outcome = lockstep(fmt::format("{} {}", words, streams));
      EXPECT_EQ(outcome.exit_code, failure) << words << " " << streams;
    }
  }
}

// Each flag that names a file, `FILE` in its words.
std::vector<CommandLine> that_write(const std::string& run, const std::string& check, const std::string& diff,
                                    const std::string& scale) {
  return {{"analyze --json FILE " + run},
          {"analyze --html FILE " + run},
          {"export -q -f chrome -o FILE " + run},
          {"export -q -f perfetto -o FILE " + run},
          {check + " --json FILE", 2},
          {check + " --junit FILE", 2},
          {check + " --markdown FILE", 2},
          {check + " --history FILE", 2},
          {check + " --export bencher=FILE", 2},
          {diff + " --json FILE"},
          {scale + " --json FILE"},
          {scale + " --html FILE"}};
}

std::string with_file(std::string words, const std::string& file) {
  return words.replace(words.find("FILE"), 4, file);
}

TEST_F(VerbsWithoutOutput, NameTheFileThatTakesNothing) {
  for (const auto& [words, failure] : that_write(run_of(1), check(), diff(), scale())) {
    const Outcome outcome = lockstep(with_file(words, "/dev/full"));
    EXPECT_EQ(outcome.exit_code, failure) << words << outcome.standard_error;
    EXPECT_THAT(outcome.standard_error, HasSubstr("cannot write /dev/full: ")) << words;
  }
}

// Those, and more that write otherwise.
std::vector<CommandLine> all_that_write(std::vector<CommandLine> commands, const std::string& run,
                                        const std::string& baseline_runs) {
  commands.push_back({"export -q -f sqlite -o FILE " + run});
  commands.push_back({"export -q -f csv -o FILE " + run});
  commands.push_back({fmt::format("baseline save {} -o FILE", baseline_runs)});
  commands.push_back({"doctor -q --json FILE"});
  return commands;
}

// A limit on the size of files (`ulimit -f`, Slurm's and cron's) raises a signal where the disk's end is an
// error.
TEST_F(VerbsWithoutOutput, FailAtALimitOnTheSizeOfFiles) {
  if (kThreadSanitized)
    GTEST_SKIP() << "SKIPPED: ThreadSanitizer writes a file before main begins, and dies of the limit";
  const std::string fresh = folder_ / "limited/fresh";
  fs::create_directory(folder_ / "limited");
  for (const auto& [words, failure] :
       all_that_write(that_write(run_of(1), check(), diff(), scale()), run_of(1), baseline_runs_)) {
    const Outcome outcome =
        shell(fmt::format("ulimit -f 0; {} {}", binary("lockstep"), with_file(words, fresh)));
    EXPECT_EQ(outcome.exit_code, failure) << words << outcome.standard_error;
    fs::remove_all(fresh);  // doctor and csv write what they can
    EXPECT_TRUE(fs::is_empty(folder_ / "limited")) << words;
  }
  for (const char* words : {"--help", "explain"})
    EXPECT_EQ(
        shell(fmt::format("ulimit -f 0; {} {} >{}", binary("lockstep"), words, folder_ / "out")).exit_code, 1)
        << words;
}

// Files are written beside the one that they become: nothing of them is left, and an older one stays.
TEST_F(VerbsWithoutOutput, LeaveAFullDiskAsItWas) {
  const Mount disk(folder_ / "disk", 0, "size=64k");
  if (!disk.mounted()) GTEST_SKIP() << "mounting a small file system is not allowed here";
  const std::string old = folder_.write("disk/old", "{}\n"), fresh = folder_ / "disk/fresh";
  std::ofstream(folder_ / "disk/filler") << std::string(std::size_t{128} << 10U, 'x');
  for (const auto& [words, failure] :
       all_that_write(that_write(run_of(1), check(), diff(), scale()), run_of(1), baseline_runs_)) {
    const Outcome outcome = lockstep(with_file(words, fresh));
    EXPECT_EQ(outcome.exit_code, failure) << words << outcome.standard_error;
    EXPECT_THAT(outcome.standard_error, HasSubstr(fresh)) << words;
    fs::remove_all(fresh);  // doctor and csv write what they can
    for (const auto& file : fs::directory_iterator(folder_ / "disk"))
      EXPECT_THAT(file.path().filename().string(), AnyOf("old", "filler")) << words;
  }
  EXPECT_EQ(lockstep(fmt::format("analyze --json {} {}", old, run_of(1))).exit_code, 1);
  EXPECT_EQ(test::read_whole_file(old), "{}\n");
}

std::map<std::string, std::string> contents_of(const std::string& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& file : fs::directory_iterator(folder))
    if (file.is_regular_file())
      contents[file.path().filename().string()] = test::read_whole_file(file.path());
  return contents;
}

// A run of several files, on a disk with room for none of them, then for one page more, until all of it fits.
TEST_F(VerbsWithoutOutput, CollectLeavesNothingOfARunThatDoesNotFit) {
  constexpr std::size_t kPage = 4096, kPages = 16;
  RecordedRun run;
  record(run, behave({"leave", "0"}), {"RANK=0", "WORLD_SIZE=1"});
  ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.standard_error;
  const auto whole = contents_of(run.run_path());
  const Mount disk(folder_ / "disk", 0, "size=64k");
  if (!disk.mounted()) GTEST_SKIP() << "mounting a small file system is not allowed here";
  const std::string joined = folder_ / "disk/joined";
  std::string said;
  bool fits = false;
  for (std::size_t free = 0; free < kPages; ++free) {
    SCOPED_TRACE(fmt::format("{} of {} pages", free, kPages));
    std::ofstream(folder_ / "disk/filler") << std::string((kPages - free) * kPage, 'x');
    const Outcome outcome = lockstep(fmt::format("collect -o {} {}", joined, run.run_path()));
    fits = outcome.exit_code == 0;
    EXPECT_EQ(contents_of(run.run_path()), whole);
    if (fits) break;
    EXPECT_EQ(outcome.exit_code, 1) << outcome.standard_error;
    EXPECT_THAT(outcome.standard_error, HasSubstr("lockstep collect: cannot "));
    EXPECT_FALSE(fs::exists(joined));
    said += outcome.standard_error;
  }
  ASSERT_TRUE(fits) << said;
  EXPECT_EQ(contents_of(joined)["rank-0.lst"], whole.at("rank-0.lst"));
  // The first that has no room is named: the trace, and with a page for that the manifest.
  for (const char* name : {"rank-0.lst", "manifest.json"})
    EXPECT_THAT(said, HasSubstr(fmt::format("'{}/{}': No space left on device", joined, name)));
}

}  // namespace
}  // namespace lockstep::end_to_end

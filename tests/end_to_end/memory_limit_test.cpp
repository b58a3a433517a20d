// `--memory`: what is said of a run is the same where it does not fit into memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/end_to_end/support.h"

namespace lockstep::end_to_end {
namespace {

using testing::HasSubstr;

class MemoryLimit : public testing::Test {
 protected:
  // About 130 MB in memory.
  void make_run() const {
    const Outcome made = run({LOCKSTEP_MAKE_RUN, folder_ / "run", "6", "20", "200000"});
    ASSERT_EQ(made.exit_code, 0) << made.standard_error;
    std::filesystem::create_directory(folder_ / "scratch");
  }
  // Skips where the temporary folder can't serve: held in memory, or without room.
  Outcome limited(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), binary("lockstep"));
    arguments.insert(arguments.end(), {"--memory", "64M", "--scratch", folder_ / "scratch"});
    return run(arguments);
  }
  static bool cannot_serve(const Outcome& outcome) {
    return outcome.exit_code == 2 && (outcome.standard_error.find("held in memory") != std::string::npos ||
                                      outcome.standard_error.find("reserve room") != std::string::npos);
  }

  TemporaryFolder folder_;
};

TEST_F(MemoryLimit, TheReportIsTheSame) {
  make_run();
  const std::string path = folder_ / "run";
  const Outcome whole = run({binary("lockstep"), "analyze", path, "--json", "-"});
  ASSERT_EQ(whole.exit_code, 0) << whole.standard_error;
  const Outcome small = limited({"analyze", path, "--json", "-"});
  if (cannot_serve(small)) GTEST_SKIP() << small.standard_error;
  ASSERT_EQ(small.exit_code, 0) << small.standard_error;
  EXPECT_TRUE(small.standard_output == whole.standard_output);
  EXPECT_EQ(run({binary("lockstep"), "analyze", path}).standard_output,
            limited({"analyze", path}).standard_output);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "scratch"));
}

TEST_F(MemoryLimit, ExportsAreTheSame) {
  make_run();
  const std::string path = folder_ / "run";
  const std::vector<std::string> command{"export", path, "--format", "csv", "-o", "-"};
  std::vector<std::string> without{binary("lockstep")};
  without.insert(without.end(), command.begin(), command.end());
  const Outcome whole = run(without);
  ASSERT_EQ(whole.exit_code, 0) << whole.standard_error;
  const Outcome small = limited(command);
  if (cannot_serve(small)) GTEST_SKIP() << small.standard_error;
  ASSERT_EQ(small.exit_code, 0) << small.standard_error;
  EXPECT_TRUE(small.standard_output == whole.standard_output);
}

TEST_F(MemoryLimit, ADiskThatIsFullIsSaid) {
  make_run();
  // No file may be larger than 20 MB: what a full disk would say.
  const Outcome full =
      run({"/bin/sh", "-c", "ulimit -f 20000; exec \"$0\" analyze \"$1\" -q --memory 64M --scratch \"$2\"",
           binary("lockstep"), folder_ / "run", folder_ / "scratch"});
  if (cannot_serve(full)) GTEST_SKIP() << full.standard_error;
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.standard_error,
              HasSubstr("which takes no more (File too large); name another folder with --scratch"));
  EXPECT_THAT(full.standard_error, HasSubstr(folder_ / "scratch"));
}

TEST_F(MemoryLimit, WrongValuesAreWrongUsage) {
  const auto said = [&](std::vector<std::string> flags) {
    std::vector<std::string> argv{binary("lockstep"), "analyze", folder_.path().string()};
    argv.insert(argv.end(), flags.begin(), flags.end());
    const Outcome outcome = run(argv);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.standard_error;
    return outcome.standard_error;
  };
  EXPECT_THAT(said({"--memory", "much"}), HasSubstr("--memory 'much': give a size such as 4G"));
  EXPECT_THAT(said({"--memory", "1M"}), HasSubstr("--memory: 1 MB are too few; give 64 MB or more"));
  EXPECT_THAT(said({"--scratch", "/var/tmp"}), HasSubstr("--scratch /var/tmp: it is for --memory SIZE"));
  EXPECT_THAT(said({"--memory", "1G", "--scratch", "/no/such"}),
              HasSubstr("--scratch '/no/such': No such file or directory"));
}

}  // namespace
}  // namespace lockstep::end_to_end

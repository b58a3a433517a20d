#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/end_to_end/support.h"
#include "tests/temporary_folder.h"

namespace lockstep::end_to_end {
namespace {

using testing::HasSubstr;

class SkippedTests : public testing::Test {
 protected:
  std::string listed(const std::string& log) {
    const Outcome outcome =
        run({LOCKSTEP_SOURCE_DIR "/scripts/skipped_tests", folder_.write("LastTest.log", log)});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
    return outcome.standard_output;
  }
  test::TemporaryFolder folder_;
};

// As ctest writes it, of a test of GoogleTest that skips itself.
std::string skipped(const std::string& number, const std::string& name, const std::string& reason) {
  return number + "/9 Testing: suite." + name + "\n" + number + "/9 Test: suite." + name +
         "\nCommand: \"suite\"\n\"suite." + name + "\" start time: Nov 27 04:06 UTC\nOutput:\n[ RUN      ] " +
         name + "\n../a_test.cpp:12: Skipped\n" + reason + "\n\n[  SKIPPED ] " + name +
         " (0 ms)\n[  PASSED  ] 0 tests.\n[  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] " + name +
         "\n<end of output>\n";
}

TEST_F(SkippedTests, AreCountedByReason) {
  EXPECT_EQ(listed(skipped("1", "Gpu.Runs", "no GPU") + skipped("2", "Long.Runs", "takes minutes") +
                   skipped("3", "Gpu.Walks", "no GPU")),
            "Not run here, and why:\n"
            "  2 tests (the first: suite.Gpu.Runs): no GPU\n"
            "  1 test (suite.Long.Runs): takes minutes\n");
}

TEST_F(SkippedTests, WhatSurroundsAReasonIsNoPartOfIt) {
  EXPECT_EQ(listed(skipped("1", "Kills.Lose", "no survivors\nGoogle Test trace:\n/src/kills_test.cpp:12: 0") +
                   skipped("2", "Rings.Lose", "SKIPPED: no survivors")),
            "Not run here, and why:\n  2 tests (the first: suite.Kills.Lose): no survivors\n");
}

TEST_F(SkippedTests, OfAScriptTellEachReasonOnce) {
  EXPECT_EQ(listed("1/1 Test: end_to_end.gpu_check\nOutput:\nSKIPPED  durations agree: no driver\nSKIPPED  "
                   "nodes: no driver\n"
                   "ok       files are there\n"),
            "Not run here, and why:\n  1 test (end_to_end.gpu_check): no driver\n");
}

TEST_F(SkippedTests, NothingIsSaidWhereAllRan) {
  EXPECT_EQ(listed("1/1 Test: suite.Runs\nOutput:\n[       OK ] Runs (0 ms)\n"), "");
}

TEST_F(SkippedTests, ALogThatIsNotThereIsAnError) {
  const Outcome outcome = run({LOCKSTEP_SOURCE_DIR "/scripts/skipped_tests", folder_ / "none.log"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.standard_error, HasSubstr("none.log: cannot be read"));
}

}  // namespace
}  // namespace lockstep::end_to_end

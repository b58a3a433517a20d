// The help of `lockstep-view`, where it can't be written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/end_to_end/support.h"

namespace lockstep::end_to_end {
namespace {

using testing::HasSubstr;

TEST(ViewerHelp, ThatCanNotBeWrittenIsExitCodeOne) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  const Outcome full = run({"/bin/sh", "-c", binary("lockstep-view") + " --help > /dev/full"});
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.standard_error, HasSubstr("cannot write to stdout: No space left on device"));
}

}  // namespace
}  // namespace lockstep::end_to_end

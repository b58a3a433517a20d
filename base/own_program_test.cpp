#include "base/own_program.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(OwnProgram, IsThisTest) {
  std::error_code error;
  const std::filesystem::path path = own_program(error);
  EXPECT_FALSE(error) << error.message();
  EXPECT_TRUE(path.is_absolute()) << path;
  EXPECT_EQ(path.filename(), "lockstep_base_test");
  EXPECT_EQ(path, std::filesystem::canonical(path));
}

}  // namespace
}  // namespace lockstep

#include "reference_trainer/modes/zero/swap_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "reference_trainer/tests/trainer_process.h"

namespace lockstep::trainer {
namespace {

TEST(SwapFile, GivesBackWhatWasWritten) {
  const TemporaryFolder folder;
  SwapFile file(folder.file(""), "key");
  const std::string first(100'000, 'a'), second = "second";
  file.write(50, second.data(), second.size());
  file.write(200'000, first.data(), first.size());
  std::string read(first.size(), ' ');
  file.read(200'000, read.data(), read.size());
  EXPECT_EQ(read, first);
  read.resize(second.size());
  file.read(50, read.data(), read.size());
  EXPECT_EQ(read, second);
}

TEST(SwapFile, LeavesNothingInTheFolder) {
  const TemporaryFolder folder;
  const SwapFile file(folder.file(""), "key");
  EXPECT_TRUE(std::filesystem::is_empty(folder.file("")));
}

TEST(SwapFile, ErrorsNameKeyAndFolder) {
  try {
    SwapFile("/no/such/folder", "a.key");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "a.key '/no/such/folder': cannot create a file: No such file or directory");
  }
  const TemporaryFolder folder;
  SwapFile file(folder.file(""), "a.key");
  char byte = 0;
  EXPECT_THROW(file.read(0, &byte, 1), std::runtime_error);
}

}  // namespace
}  // namespace lockstep::trainer

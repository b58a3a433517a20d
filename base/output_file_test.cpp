#include "base/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/temporary_folder.h"

namespace lockstep {
namespace {

using test::read_whole_file;
using test::TemporaryFolder;
using testing::HasSubstr;

std::size_t entries(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(OutputFile, AppearsWholeOnCommit) {
  const TemporaryFolder folder;
  Result<OutputFile> file = OutputFile::create(folder / "a", Overwrite::refuse);
  ASSERT_TRUE(file.ok());
  file.value().stream() << "text";
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
  ASSERT_TRUE(file.value().commit().ok());
  EXPECT_EQ(read_whole_file(folder / "a"), "text");
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(OutputFile, LeavesNothingWithoutCommit) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a") << "old";
  {
    Result<OutputFile> file = OutputFile::create(folder / "a", Overwrite::allow);
    ASSERT_TRUE(file.ok());
    file.value().stream() << "new";
  }
  EXPECT_EQ(read_whole_file(folder / "a"), "old");
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(OutputFile, OverwritesOnlyWhenTold) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a") << "old";
  const Result<OutputFile> refused = OutputFile::create(folder / "a", Overwrite::refuse);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr((folder / "a") + " exists"));
  EXPECT_THAT(refused.error().message, HasSubstr("--force"));
  Result<OutputFile> allowed = OutputFile::create(folder / "a", Overwrite::allow);
  ASSERT_TRUE(allowed.ok());
  allowed.value().stream() << "new";
  ASSERT_TRUE(allowed.value().commit().ok());
  EXPECT_EQ(read_whole_file(folder / "a"), "new");
}

TEST(OutputFile, ALateComerIsNotOverwrittenEither) {
  const TemporaryFolder folder;
  Result<OutputFile> file = OutputFile::create(folder / "a", Overwrite::refuse);
  ASSERT_TRUE(file.ok());
  std::ofstream(folder / "a") << "came first";
  EXPECT_FALSE(file.value().commit().ok());
  EXPECT_EQ(read_whole_file(folder / "a"), "came first");
}

TEST(OutputFile, FollowsALinkInsteadOfReplacingIt) {
  const TemporaryFolder folder;
  std::ofstream(folder / "target") << "old";
  std::filesystem::create_symlink("target", folder / "link");
  Result<OutputFile> file = OutputFile::create(folder / "link", Overwrite::allow);
  ASSERT_TRUE(file.ok());
  file.value().stream() << "new";
  ASSERT_TRUE(file.value().commit().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_whole_file(folder / "target"), "new");
}

TEST(OutputFile, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  const Result<OutputFile> nowhere = OutputFile::create(folder / "no/such/a", Overwrite::allow);
  ASSERT_FALSE(nowhere.ok());
  EXPECT_THAT(nowhere.error().message, HasSubstr("there is no folder " + (folder / "no/such")));
  const Result<OutputFile> a_folder = OutputFile::create(folder.path(), Overwrite::allow);
  ASSERT_FALSE(a_folder.ok());
  EXPECT_THAT(a_folder.error().message, HasSubstr("it is a folder"));
}

TEST(OutputFile, AFullDiskIsAnErrorThatNamesTheFile) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  Result<OutputFile> file = OutputFile::create("/dev/full", Overwrite::refuse);
  ASSERT_TRUE(file.ok()) << file.error().message;
  file.value().stream() << std::string(100'000, 'x');
  const Status status = file.value().commit();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("cannot write /dev/full"));
  EXPECT_TRUE(std::filesystem::exists("/dev/full"));
}

}  // namespace
}  // namespace lockstep

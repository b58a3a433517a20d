#include "reference_trainer/data/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "reference_trainer/tests/trainer_process.h"

namespace lockstep::trainer {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(Text, FileIsReadWhole) {
  const TemporaryFolder folder;
  const std::string bytes = std::string("caf\xc3\xa9\r\n") + "\xff tail";
  write_file(folder.file("a"), bytes);
  const Result<Text> text = load_text(folder.file("a"));
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text.value().bytes, bytes);
  EXPECT_EQ(text.value().files, 1);
}

TEST(Text, FolderIsReadInOrderOfPathsWithoutHiddenAndBinaryFiles) {
  const TemporaryFolder folder;
  fs::create_directories(folder.file("b/.git"));
  write_file(folder.file("c"), "third");
  write_file(folder.file("b/x"), "second");
  write_file(folder.file("a"), "first");
  write_file(folder.file(".hidden"), "no");
  write_file(folder.file("b/.git/config"), "no");
  write_file(folder.file("binary"), std::string("no\0no", 5));
  write_file(folder.file("empty"), "");
  const Result<Text> text = load_text(folder.file(""));
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text.value().bytes, "first\nsecond\nthird");
  EXPECT_EQ(text.value().files, 3);
}

TEST(Text, ErrorsNameThePath) {
  const TemporaryFolder folder;
  write_file(folder.file("empty"), "");
  fs::create_directories(folder.file("nothing"));
  for (const std::string& path :
       {folder.file("missing"), folder.file("empty"), folder.file("nothing"), std::string("/dev/null")}) {
    const Result<Text> text = load_text(path);
    ASSERT_FALSE(text.ok()) << path;
    EXPECT_THAT(text.error().message, HasSubstr(path));
  }
}

TEST(Text, DocumentationIsFound) {
  const Result<Text> text = load_documentation();
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(text.value().bytes, HasSubstr("lockstep.collective"));
}

}  // namespace
}  // namespace lockstep::trainer

#include "base/small_file.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/temporary_folder.h"

namespace lockstep {
namespace {

TEST(SmallFile, IsReadWhole) {
  const test::TemporaryFolder folder;
  const std::string text = std::string(5'000, 'x') + '\0' + "\nlast";
  EXPECT_EQ(read_small_file(folder.write("file", text)), text);
  EXPECT_EQ(read_small_file(folder.write("empty", "")), "");
}

TEST(SmallFile, OfProcTellsNoSizeAndIsReadAllTheSame) {
  EXPECT_EQ(read_small_file("/proc/self/comm").back(), '\n');
}

TEST(SmallFile, ThatCantBeReadIsEmpty) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(read_small_file(folder / "none"), "");
  EXPECT_EQ(read_small_file(folder.path().string()), "") << "a folder";
}

TEST(SmallFile, ThatIsLargeIsCut) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(read_small_file(folder.write("large", std::string(100'000, 'x'))), std::string(65'536, 'x'));
  EXPECT_EQ(read_small_file(folder / "large", kWholeFile), std::string(100'000, 'x'));
  EXPECT_EQ(read_small_file(folder / "large", 5'000), std::string(5'000, 'x'));
}

}  // namespace
}  // namespace lockstep

#include "tracer/inject/core/own_file.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>

#include "tests/temporary_folder.h"

namespace lockstep::tracer {
namespace {

TEST(OwnFile, IsReadWhole) {
  const test::TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 2000; ++i) text += std::to_string(i) + "\n";
  const std::string path = folder.write("file", text);
  EXPECT_EQ(read_own_file(path), text);
  std::array<char, 16384> buffer{};
  EXPECT_EQ(read_own_file(path.c_str(), buffer), text);
  EXPECT_EQ(read_own_file(path.c_str(), std::span(buffer).first(7)), "0\n1\n2\n3");
}

TEST(OwnFile, IsCutAtSixtyFourKibibytesOrThereabouts) {
  const test::TemporaryFolder folder;
  const std::string read = read_own_file(folder.write("file", std::string(100'000, 'x')));
  EXPECT_EQ(read, std::string(65'536, 'x'));
}

TEST(OwnFile, OfNoFileIsEmpty) {
  std::array<char, 16> buffer{};
  EXPECT_EQ(read_own_file(std::string("/proc/self/nothing")), "");
  EXPECT_EQ(read_own_file("/proc/self/nothing", buffer), "");
}

TEST(OwnFile, ProcIsReadAsByAnybody) {
  EXPECT_EQ(read_own_file(std::string("/proc/self/comm")).back(), '\n');
  std::array<char, 32> buffer{};
  EXPECT_EQ(read_own_file("/proc/self/comm", buffer), read_own_file(std::string("/proc/self/comm")));
}

}  // namespace
}  // namespace lockstep::tracer

// A test that is in no CMakeLists.txt would never run, and nobody would notice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

TEST(TestFiles, EachIsNamedByACMakeLists) {
  std::string lists;
  std::vector<fs::path> tests;
  for (fs::recursive_directory_iterator at(LOCKSTEP_SOURCE_DIR), end; at != end; ++at) {
    const std::string name = at->path().filename().string();
    if (at->is_directory()) {
      if (name == "build" || name.starts_with('.')) at.disable_recursion_pending();
    } else if (name == "CMakeLists.txt") {
      lists += test::read_whole_file(at->path());
    } else if (name.ends_with("_test.cpp")) {
      tests.push_back(at->path());
    }
  }
  EXPECT_GT(tests.size(), 100U);
  std::vector<std::string> unnamed;
  for (const fs::path& test : tests) {
    if (lists.find(test.stem().string()) == std::string::npos) unnamed.push_back(test.string());
  }
  EXPECT_THAT(unnamed, testing::IsEmpty());
}

}  // namespace
}  // namespace lockstep

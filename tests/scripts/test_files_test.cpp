// A test that is in no CMakeLists.txt would never run, and nobody would notice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// Whose files a CMakeLists.txt takes as they are: file(GLOB name CONFIGURE_DEPENDS kinds/*.cpp).
void add_globbed_folders(const fs::path& list, const std::string& text, std::set<fs::path>& folders) {
  static const std::regex kGlob(R"(GLOB \w+ CONFIGURE_DEPENDS ([\w/]+)/\*\.cpp\))");
  for (std::sregex_iterator at(text.begin(), text.end(), kGlob), end; at != end; ++at)
    folders.insert(list.parent_path() / (*at)[1].str());
}

TEST(TestFiles, EachIsNamedByACMakeListsOrIsInAFolderThatOneTakes) {
  std::string lists;
  std::set<fs::path> globbed;
  std::vector<fs::path> tests;
  for (fs::recursive_directory_iterator at(LOCKSTEP_SOURCE_DIR), end; at != end; ++at) {
    const std::string name = at->path().filename().string();
    if (at->is_directory()) {
      if (name == "build" || name.starts_with('.')) at.disable_recursion_pending();
    } else if (name == "CMakeLists.txt") {
      const std::string text = test::read_whole_file(at->path());
      lists += text;
      add_globbed_folders(at->path(), text, globbed);
    } else if (name.ends_with("_test.cpp")) {
      tests.push_back(at->path());
    }
  }
  EXPECT_GT(tests.size(), 100U);
  std::vector<std::string> unnamed;
  for (const fs::path& test : tests) {
    if (globbed.contains(test.parent_path())) continue;
    if (lists.find(test.stem().string()) == std::string::npos) unnamed.push_back(test.string());
  }
  EXPECT_THAT(unnamed, testing::IsEmpty());
}

}  // namespace
}  // namespace lockstep

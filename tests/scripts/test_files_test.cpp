// A test that is in no CMakeLists.txt would never run, and nobody would notice.
#include <fnmatch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// The patterns of a CMakeLists.txt's file(GLOB …), as paths.
std::vector<std::string> globs_of(const fs::path& list, const std::string& text) {
  static const std::regex kGlob(R"(file\(GLOB ([^)]*)\))"), kPattern(R"([^\s"]*\*[^\s"]*)");
  std::vector<std::string> patterns;
  for (std::sregex_iterator glob(text.begin(), text.end(), kGlob), end; glob != end; ++glob) {
    const std::string words = (*glob)[1];
    for (std::sregex_iterator word(words.begin(), words.end(), kPattern); word != end; ++word)
      patterns.push_back(list.parent_path() / word->str());
  }
  return patterns;
}

TEST(TestFiles, EachIsNamedByACMakeLists) {
  std::string lists;
  std::vector<std::string> patterns;
  std::vector<fs::path> tests;
  for (fs::recursive_directory_iterator at(LOCKSTEP_SOURCE_DIR), end; at != end; ++at) {
    const std::string name = at->path().filename().string();
    if (at->is_directory()) {
      if (name == "build" || name.starts_with('.')) at.disable_recursion_pending();
    } else if (name == "CMakeLists.txt") {
      const std::string text = test::read_whole_file(at->path());
      lists += text;
      for (const std::string& pattern : globs_of(at->path(), text)) patterns.push_back(pattern);
    } else if (name.ends_with("_test.cpp")) {
      tests.push_back(at->path());
    }
  }
  EXPECT_GT(tests.size(), 100U);
  std::vector<std::string> unnamed;
  for (const fs::path& test : tests) {
    const bool found = std::any_of(patterns.begin(), patterns.end(), [&test](const std::string& pattern) {
      return fnmatch(pattern.c_str(), test.c_str(), FNM_PATHNAME) == 0;
    });
    if (!found && lists.find(test.stem().string()) == std::string::npos) unnamed.push_back(test.string());
  }
  EXPECT_THAT(unnamed, testing::IsEmpty());
}

}  // namespace
}  // namespace lockstep

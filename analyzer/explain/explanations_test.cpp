#include "analyzer/explain/explanations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "tests/temporary_folder.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::filesystem::path kSource = LOCKSTEP_SOURCE_DIR;

// What the sources give as a code of a finding: `code = "…"`, Words{"…", and what straggler adds to its own.
std::set<std::string> codes_in_sources() {
  std::set<std::string> codes{"straggler_periodic", "straggler_persistent", "straggler_transient"};
  const std::regex pattern(
      "(?:code = |Words\\{|finding_of\\([^\"]*|return \\{|: "
      "|\\{)\"([a-z]+(?:_[a-z]+)+|hang|queued|straggler|imbalance)\"");
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "analyzer/diagnose")) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("finding_") || !name.ends_with(".cpp")) continue;
    const std::string text = test::read_whole_file(entry.path());
    for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
      codes.insert((*at)[1].str());
  }
  return codes;
}

TEST(Explanations, ThereIsOneForEveryFinding) {
  const std::set<std::string> codes = codes_in_sources();
  EXPECT_GE(codes.size(), 22U);
  for (const std::string& code : codes) EXPECT_NE(find_explanation(code), nullptr) << code;
}

TEST(Explanations, SayWhatTheyHaveTo) {
  std::set<std::string_view> seen;
  for (const Explanation& explanation : explanations()) {
    ASSERT_FALSE(explanation.codes.empty());
    for (const std::string_view code : explanation.codes) EXPECT_TRUE(seen.insert(code).second) << code;
    EXPECT_FALSE(explanation.title.empty()) << explanation.codes[0];
    EXPECT_TRUE(explanation.meaning.ends_with('.')) << explanation.codes[0];
    EXPECT_TRUE(explanation.found.ends_with('.')) << explanation.codes[0];
    EXPECT_FALSE(explanation.remedies.empty()) << explanation.codes[0];
  }
  EXPECT_EQ(find_explanation("no_such_code"), nullptr);
  EXPECT_EQ(find_explanation("straggler"), find_explanation("straggler_transient"));
}

TEST(Explanations, ArePrintedWithinThePage) {
  for (const Explanation& explanation : explanations()) {
    Page page({.width = 80, .ascii = true});
    print_explanation(explanation, page);
    const std::string text = page.take();
    EXPECT_THAT(text, HasSubstr(std::string(explanation.codes[0])));
    EXPECT_THAT(text, HasSubstr("-> "));
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      EXPECT_LE(end - begin, 86U) << text.substr(begin, end - begin);  // bytes: a few are no ASCII
      begin = end + 1;
    }
  }
}

// Written by `lockstep explain --markdown > docs/findings.md`.
TEST(Explanations, ThePageInDocsIsUpToDate) {
  EXPECT_EQ(test::read_whole_file(kSource / "docs/findings.md"), explanations_as_markdown());
}

}  // namespace
}  // namespace lockstep::analyzer

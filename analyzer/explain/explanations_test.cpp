#include "analyzer/explain/explanations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "analyzer/diagnose/finding_kinds.h"
#include "tests/temporary_folder.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

const std::filesystem::path kSource = LOCKSTEP_SOURCE_DIR;

TEST(Explanations, ThereIsOneForEveryFinding) {
  for (const FindingKind* const kind : finding_kinds()) {
    const ExplainedKinds* const explained = find_explanation(kind->code);
    ASSERT_NE(explained, nullptr) << kind->code;
    EXPECT_EQ(&explained->explanation(), kind->explanation);
    EXPECT_EQ(explained->title(), kind->title);
  }
  EXPECT_EQ(find_explanation("no_such_code"), nullptr);
  EXPECT_EQ(find_explanation("straggler_persistent"), find_explanation("straggler_since"));
  EXPECT_EQ(find_explanation("straggler_persistent"), find_explanation("straggler_periodic"));
  EXPECT_NE(find_explanation("straggler_persistent"), find_explanation("slow_link_of_rank"));
}

TEST(Explanations, ArePrintedWithinThePage) {
  for (const ExplainedKinds& explained : explanations()) {
    Page page({.width = 80, .ascii = true});
    print_explanation(explained, page);
    const std::string text = page.take();
    EXPECT_THAT(text, HasSubstr(std::string(explained.kinds[0]->code)));
    EXPECT_THAT(text, HasSubstr("-> "));
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      EXPECT_LE(end - begin, 86U) << text.substr(begin, end - begin);  // bytes: a few are no ASCII
      begin = end + 1;
    }
  }
}

// Written by `lockstep explain --pages docs/findings`.
TEST(Explanations, ThePagesInDocsAreUpToDate) {
  const std::filesystem::path folder = kSource / "docs/findings";
  std::set<std::string> there, written;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    there.insert(entry.path().filename().string());
  std::vector<ExplanationPage> pages = explanation_pages();
  pages.push_back(index_of_pages());
  for (const ExplanationPage& page : pages) {
    EXPECT_TRUE(written.insert(page.file_name).second) << page.file_name;
    EXPECT_EQ(test::read_whole_file(folder / page.file_name), page.text) << page.file_name;
  }
  EXPECT_EQ(there, written);
}

// The values of findings[].code that a reader of the JSON can meet.
TEST(Explanations, TheIndexHasALineForEachKind) {
  const std::string index = index_of_pages().text;
  for (const FindingKind* const kind : finding_kinds())
    EXPECT_THAT(index, HasSubstr("\n| [`" + std::string(kind->code) + "`]("));
  EXPECT_THAT(index,
              HasSubstr("\n| [`straggler_since`](straggler_persistent.md) | the others wait for one rank | "
                        "by what is lost | `barrier_wait` | rank |\n"));
  EXPECT_THAT(
      index,
      HasSubstr("\n| [`job_interrupted`](job_interrupted.md) | the job was interrupted | note |  |  |\n"));
  EXPECT_THAT(test::read_whole_file(kSource / "docs/metrics.md"), HasSubstr("(findings/README.md)"));
}

TEST(Explanations, StandTogetherOnOnePageToo) {
  const std::string all = explanations_as_markdown();
  std::size_t last = 0;
  for (const ExplanationPage& page : explanation_pages()) {
    const std::size_t at = all.find("\n#" + page.text.substr(0, page.text.rfind("\n[")));
    ASSERT_NE(at, std::string::npos) << page.file_name;
    EXPECT_GE(at, last) << page.file_name;
    last = at;
  }
}

}  // namespace
}  // namespace lockstep::analyzer

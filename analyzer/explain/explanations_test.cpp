#include "analyzer/explain/explanations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

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

// Written by `lockstep explain --markdown > docs/findings.md`.
TEST(Explanations, ThePageInDocsIsUpToDate) {
  EXPECT_EQ(test::read_whole_file(kSource / "docs/findings.md"), explanations_as_markdown());
}

}  // namespace
}  // namespace lockstep::analyzer

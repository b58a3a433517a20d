#include "viewer/timeline/code_spans.h"

#include <gtest/gtest.h>

namespace lockstep::viewer {
namespace {

TEST(QuoteCode, PutsQuotesInPlaceOfBackticks) {
  EXPECT_EQ(quote_code("see what else runs there (`top`), and `taskset -c 0`"),
            "see what else runs there ('top'), and 'taskset -c 0'");
  EXPECT_EQ(quote_code("`a``b`"), "'a''b'");
  EXPECT_EQ(quote_code("nothing"), "nothing");
  EXPECT_EQ(quote_code(""), "");
}

TEST(QuoteCode, ABacktickWithoutAPartnerStays) {
  EXPECT_EQ(quote_code("`a` and b`"), "'a' and b`");
  EXPECT_EQ(quote_code("`"), "`");
}

}  // namespace
}  // namespace lockstep::viewer

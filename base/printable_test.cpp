#include "base/printable.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

using namespace std::string_literals;

TEST(Printable, LetsNoControlCharacterReachTheTerminal) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1B[31mb");
  EXPECT_EQ(printable("a\nb\tc\r"), "a\\nb\\tc\\x0D");
  EXPECT_EQ(printable("\x7F\u009B"), "\\x7F\\x9B");
  EXPECT_EQ(printable("a\0b"s), "a\\x00b");
}

TEST(Printable, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(printable("naïve 東京 \xFF"), "naïve 東京 \uFFFD");
  EXPECT_EQ(printable("\x9B"
                      "31m"),
            "\uFFFD31m")
      << "C1 as a single byte";
}

TEST(Printable, LeavesWhatIsPrintable) {
  for (const std::string& text : {""s, "rank-0.json"s, "naïve 東京 \\x1B"s}) EXPECT_EQ(printable(text), text);
}

}  // namespace
}  // namespace lockstep

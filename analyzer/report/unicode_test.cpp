#include "analyzer/report/unicode.h"

#include <gtest/gtest.h>

#include <random>

namespace lockstep::analyzer {
namespace {

using namespace std::string_literals;

TEST(Utf8, KnowsWhatIsWellFormed) {
  for (const auto& good : {""s, "abc\0d"s, "µs"s, "\u0800\uFFFD"s, "\U00010000\U0010FFFF"s}) {
    EXPECT_TRUE(is_valid_utf8(good));
    EXPECT_EQ(to_valid_utf8(good), good);
  }
  // A lone continuation, overlong forms, a surrogate, above U+10FFFF, cut sequences, bytes that never occur.
  for (const auto& bad : {"\x80"s, "\xC0\xAF"s, "\xE0\x80\xAF"s, "\xED\xA0\x80"s, "\xF4\x90\x80\x80"s,
                          "\xC3"s, "\xE2\x82"s, "\xF0\x9F\x98"s, "\xFF"s, "\xC1\xBF"s}) {
    EXPECT_FALSE(is_valid_utf8(bad)) << testing::PrintToString(bad);
    EXPECT_FALSE(is_valid_utf8("a" + bad + "b"));
  }
}

TEST(Utf8, ReplacesWrongBytesAndKeepsTheRest) {
  EXPECT_EQ(to_valid_utf8("a\xFFz"), "a\uFFFDz");
  EXPECT_EQ(to_valid_utf8("\xC3("), "\uFFFD(");
  EXPECT_EQ(to_valid_utf8("\xE2\x82µ"), "\uFFFD\uFFFDµ");
}

TEST(Utf8, AnythingBecomesValidAndStaysSo) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> byte(0, 255), length(0, 12);
  for (int i = 0; i < 20'000; ++i) {
    std::string text(static_cast<std::size_t>(length(random)), '\0');
    for (char& c : text) c = static_cast<char>(byte(random));
    const std::string valid = to_valid_utf8(text);
    ASSERT_TRUE(is_valid_utf8(valid)) << testing::PrintToString(text);
    ASSERT_EQ(to_valid_utf8(valid), valid);
    ASSERT_EQ(is_valid_utf8(text), valid == text);
    ASSERT_TRUE(is_valid_utf8(printable(text)));
    const std::string fitted = fit(valid, 5);
    ASSERT_TRUE(is_valid_utf8(fitted));
    ASSERT_LE(display_width(fitted), 5u);
  }
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("█▓▒░·"), 5u);
  EXPECT_EQ(display_width("東京"), 4u);
  EXPECT_EQ(display_width("e\u0301"), 1u);
}

TEST(Fit, CutsAtWholeCharacters) {
  EXPECT_EQ(fit("abcdef", 6), "abcdef");
  EXPECT_EQ(fit("abcdef", 5), "abcd…");
  EXPECT_EQ(fit("東京大学", 5), "東京…");
  EXPECT_EQ(fit("東京大学", 4), "東…");
  EXPECT_EQ(fit("abcdef", 5, true), "ab...");
  EXPECT_EQ(fit("abcdef", 2, true), "..");
  EXPECT_EQ(fit("abc", 0), "");
}

TEST(ToAscii, KeepsTheMeaning) {
  EXPECT_EQ(to_ascii("505 µs · ±1 → x…"), "505 us - +-1 -> x...");
  EXPECT_EQ(to_ascii("東"), "?");
}

}  // namespace
}  // namespace lockstep::analyzer

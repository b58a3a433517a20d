#include "viewer/timeline/theme.h"

#include <gtest/gtest.h>

#include "analyzer/report/palette.h"

namespace lockstep::viewer {
namespace {

using analyzer::Cause;

std::uint32_t packed(Color color) {
  return static_cast<std::uint32_t>(color.r) << 16 | static_cast<std::uint32_t>(color.g) << 8 | color.b;
}

TEST(Theme, ACauseHasTheColourOfTheReport) {
  for (const analyzer::CauseStyle& style : analyzer::kCauseStyles) {
    EXPECT_EQ(packed(cause_color(dark_theme(), style.cause)), style.rgb_dark);
    EXPECT_EQ(packed(cause_color(light_theme(), style.cause)), style.rgb_light);
  }
}

TEST(Theme, WhatTimeIsSpentOnHasTheColourOfThePage) {
  for (const analyzer::SpendingStyle& style : analyzer::kSpendingStyles)
    EXPECT_EQ(packed(spending_color(style.spending)), style.rgb);
}

TEST(Theme, ANameAlwaysHasTheSameColour) {
  const Theme theme = dark_theme();
  const Color matmul = activity_color(theme, analyzer::Class::compute, "matmul");
  EXPECT_EQ(activity_color(theme, analyzer::Class::compute, "matmul"), matmul);
  int different = 0;
  for (const char* name : {"softmax", "gelu", "layer_norm", "add"})
    different += activity_color(theme, analyzer::Class::compute, name) != matmul;
  EXPECT_GE(different, 2);
}

TEST(Theme, TextIsReadableOnEveryCause) {
  EXPECT_EQ(packed(readable_on({255, 255, 255})), 0x101418u);
  EXPECT_EQ(packed(readable_on({0, 0, 0})), 0xFFFFFFu);
}

TEST(Colors, MixAndFade) {
  EXPECT_EQ(mix({0, 0, 0}, {200, 100, 50}, 0.5), (Color{100, 50, 25, 255}));
  EXPECT_EQ(mix({10, 10, 10}, {200, 100, 50}, 7), (Color{200, 100, 50, 255}));
  EXPECT_EQ(with_alpha({1, 2, 3, 255}, 0.2).a, 51);
}

}  // namespace
}  // namespace lockstep::viewer

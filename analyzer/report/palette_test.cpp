// The palette's promise: told apart with every kind of colour blindness.
#include "analyzer/report/palette.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

// Machado, Oliveira and Fernandes 2009: what a dichromat sees, on linear RGB.
constexpr std::array<Matrix, 4> kVisions{{
    {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
    {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
    {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}},
}};

Triple times(const Matrix& m, const Triple& v) {
  Triple out{};
  for (std::size_t i = 0; i < 3; ++i) out[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
  return out;
}

Triple linear(std::uint32_t rgb) {
  Triple out{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double c = static_cast<double>(rgb >> (16 - 8 * i) & 255) / 255;
    out[i] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  }
  return out;
}

// CIE L*a*b* for D65.
Triple lab(const Triple& rgb) {
  constexpr Matrix kToXyz{{{0.4124564, 0.3575761, 0.1804375},
                           {0.2126729, 0.7151522, 0.0721750},
                           {0.0193339, 0.1191920, 0.9503041}}};
  Triple clamped = rgb;
  for (double& c : clamped) c = std::min(1.0, std::max(0.0, c));
  const Triple xyz = times(kToXyz, clamped);
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
  const double x = f(xyz[0] / 0.95047), y = f(xyz[1]), z = f(xyz[2] / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double difference(std::uint32_t a, std::uint32_t b, const Matrix& vision) {
  const Triple p = lab(times(vision, linear(a))), q = lab(times(vision, linear(b)));
  return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

TEST(Palette, EveryPairOfColoursDiffersForEveryKindOfVision) {
  // A difference of 10 is seen at a glance; neighbouring hues of ordinary charts have 20.
  for (const Matrix& vision : kVisions) {
    for (const CauseStyle& a : kCauseStyles) {
      for (const CauseStyle& b : kCauseStyles) {
        if (&a >= &b) continue;
        EXPECT_GE(difference(a.rgb_light, b.rgb_light, vision), 20)
            << a.label << " and " << b.label << " on light";
        EXPECT_GE(difference(a.rgb_dark, b.rgb_dark, vision), 20)
            << a.label << " and " << b.label << " on dark";
      }
    }
  }
}

TEST(Palette, StandsInTheOrderOfCausesWithItsOwnGlyphAndLetter) {
  std::set<std::string> glyphs, labels;
  std::set<char> letters;
  for (std::size_t i = 0; i < kCauseCount; ++i) {
    const CauseStyle& style = kCauseStyles[i];
    EXPECT_EQ(static_cast<std::size_t>(style.cause), i);
    EXPECT_EQ(&style_of(style.cause), &style);
    EXPECT_EQ(display_width(style.glyph), 1u) << style.label;
    EXPECT_TRUE(glyphs.insert(style.glyph).second) << style.label;
    EXPECT_TRUE(letters.insert(style.ascii).second) << style.label;
    EXPECT_TRUE(labels.insert(style.label).second) << style.label;
    EXPECT_GT(style.ascii, ' ');
    EXPECT_LT(style.ascii, 127);
  }
}

// They stand side by side in a bar.
TEST(Palette, NeighboursInARunsAccountDiffer) {
  for (std::size_t i = 0; i < kSpendingCount; ++i)
    EXPECT_EQ(static_cast<std::size_t>(kSpendingStyles[i].spending), i);
  for (std::size_t i = 1; i < kSpendingsByLife.size(); ++i)
    for (const Matrix& vision : kVisions)
      EXPECT_GE(difference(style_of(kSpendingsByLife[i - 1]).rgb, style_of(kSpendingsByLife[i]).rgb, vision),
                10)
          << title_of(kSpendingsByLife[i]);
  EXPECT_EQ(std::set<Spending>(kSpendingsByLife.begin(), kSpendingsByLife.end()).size(), kSpendingCount);
}

}  // namespace
}  // namespace lockstep::analyzer

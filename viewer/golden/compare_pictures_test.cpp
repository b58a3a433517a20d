// What the comparison lets pass, and what not: a tolerance that passes everything tests nothing.
#include "viewer/golden/compare_pictures.h"

#include <gtest/gtest.h>

namespace lockstep::viewer {
namespace {

Picture plain(int width, int height, std::uint8_t grey) {
  return {width, height, std::vector<std::uint8_t>(3u * static_cast<unsigned>(width * height), grey)};
}

void fill(Picture& picture, int left, int top, int right, int bottom, std::uint8_t grey) {
  for (int y = top; y < bottom; ++y)
    for (int x = left; x < right; ++x)
      for (int channel = 0; channel < 3; ++channel)
        picture.rgb[static_cast<std::size_t>(3 * (y * picture.width + x) + channel)] = grey;
}

TEST(ComparePictures, TheSameIsAlike) {
  const PictureDifference difference = compare(plain(100, 50, 30), plain(100, 50, 30));
  EXPECT_TRUE(difference.alike);
  EXPECT_EQ(difference.greatest, 0);
  EXPECT_EQ(difference.share, 0);
}

TEST(ComparePictures, AnEdgeSmoothedOtherwiseIsAlike) {
  Picture one = plain(160, 80, 30), other = one;
  fill(one, 16, 16, 80, 40, 120);
  fill(other, 16, 16, 80, 40, 120);
  fill(other, 80, 16, 81, 40, 75);  // half a pixel more
  EXPECT_TRUE(compare(one, other).alike);
  EXPECT_GT(compare(one, other).greatest, 0);
}

TEST(ComparePictures, ABoxThatMovedIsNot) {
  Picture one = plain(160, 80, 30), other = one;
  fill(one, 16, 16, 80, 32, 200);
  fill(other, 20, 16, 84, 32, 200);
  const PictureDifference difference = compare(one, other);
  EXPECT_FALSE(difference.alike);
  EXPECT_EQ(difference.share, 4.0 / 200) << "two blocks high, at both ends";
  EXPECT_EQ(difference.marked.rgb[3 * (16 * 160 + 16)], 255) << "marked";
  EXPECT_LT(difference.marked.rgb[3 * (16 * 160 + 40)], 128) << "not marked";
}

TEST(ComparePictures, OneBoxThatIsMissingIsNotAlikeEvenOnALargePicture) {
  Picture one = plain(1920, 1080, 30), other = one;
  fill(one, 400, 400, 600, 420, 90);
  EXPECT_FALSE(compare(one, other).alike);
}

TEST(ComparePictures, OtherSizesAreNot) {
  const PictureDifference difference = compare(plain(10, 10, 0), plain(10, 11, 0));
  EXPECT_FALSE(difference.alike);
  EXPECT_TRUE(difference.marked.rgb.empty());
}

}  // namespace
}  // namespace lockstep::viewer

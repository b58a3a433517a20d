#include "viewer/golden/compare_pictures.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace lockstep::viewer {

namespace {

constexpr int kBlock = 8;

struct Block {
  int left = 0, top = 0, right = 0, bottom = 0;
};

std::size_t offset(const Picture& picture, int x, int y) {
  return 3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.width) +
              static_cast<std::size_t>(x));
}

std::array<int, 3> mean_color(const Picture& picture, const Block& block) {
  std::array<std::int64_t, 3> sums{};
  for (int y = block.top; y < block.bottom; ++y)
    for (int x = block.left; x < block.right; ++x)
      for (std::size_t channel = 0; channel < 3; ++channel)
        sums[channel] += picture.rgb[offset(picture, x, y) + channel];
  const std::int64_t pixels = std::int64_t{block.right - block.left} * (block.bottom - block.top);
  std::array<int, 3> mean{};
  for (std::size_t channel = 0; channel < 3; ++channel)
    mean[channel] = static_cast<int>((sums[channel] + pixels / 2) / pixels);
  return mean;
}

void mark(Picture& picture, const Block& block, bool differs) {
  for (int y = block.top; y < block.bottom; ++y) {
    for (int x = block.left; x < block.right; ++x) {
      std::uint8_t* const pixel = &picture.rgb[offset(picture, x, y)];
      const int grey = (pixel[0] + pixel[1] + pixel[2]) / 3 / 2;
      pixel[0] = static_cast<std::uint8_t>(differs ? 255 : grey);
      pixel[1] = pixel[2] = static_cast<std::uint8_t>(grey);
    }
  }
}

}  // namespace

PictureDifference compare(const Picture& seen, const Picture& expected, const PictureTolerance& tolerance) {
  PictureDifference difference;
  if (seen.width != expected.width || seen.height != expected.height ||
      seen.rgb.size() != expected.rgb.size()) {
    difference.share = 1;
    difference.greatest = 255;
    return difference;
  }
  difference.marked = seen;
  int blocks = 0;
  int off = 0;
  for (int top = 0; top < seen.height; top += kBlock) {
    for (int left = 0; left < seen.width; left += kBlock) {
      const Block block{left, top, std::min(left + kBlock, seen.width), std::min(top + kBlock, seen.height)};
      const std::array<int, 3> one = mean_color(seen, block), other = mean_color(expected, block);
      int most = 0;
      for (std::size_t channel = 0; channel < 3; ++channel)
        most = std::max(most, std::abs(one[channel] - other[channel]));
      difference.greatest = std::max(difference.greatest, most);
      mark(difference.marked, block, most > tolerance.channel);
      off += most > tolerance.channel ? 1 : 0;
      ++blocks;
    }
  }
  difference.share = blocks == 0 ? 0 : static_cast<double>(off) / blocks;
  difference.alike = difference.share <= tolerance.differing_share;
  return difference;
}

}  // namespace lockstep::viewer

#include "viewer/testing/png_reader.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>

namespace lockstep::viewer {

namespace {

std::uint32_t u32(const std::vector<std::uint8_t>& bytes, std::size_t at) {
  return static_cast<std::uint32_t>(bytes[at]) << 24 | static_cast<std::uint32_t>(bytes[at + 1]) << 16 |
         static_cast<std::uint32_t>(bytes[at + 2]) << 8 | bytes[at + 3];
}

// Undoes the five filters of the standard.
std::uint8_t unfiltered(int filter, int raw, int left, int up, int corner) {
  const int guess = left + up - corner;
  const int near_left = std::abs(guess - left);
  const int near_up = std::abs(guess - up);
  const int near_corner = std::abs(guess - corner);
  const int paeth =
      near_left <= near_up && near_left <= near_corner ? left : (near_up <= near_corner ? up : corner);
  const int predicted[] = {0, left, up, (left + up) / 2, paeth};
  return static_cast<std::uint8_t>(raw + predicted[filter]);
}

}  // namespace

ReadPicture read_png(const std::vector<std::uint8_t>& bytes) {
  const std::vector<std::uint8_t> signature{0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A};
  ReadPicture result;
  const auto fail = [&](const char* why) {
    result.error = why;
    return result;
  };
  if (bytes.size() < 8 || !std::equal(signature.begin(), signature.end(), bytes.begin()))
    return fail("no signature");
  std::vector<std::uint8_t> compressed;
  bool ended = false;
  for (std::size_t at = 8; at < bytes.size();) {
    if (ended) return fail("bytes after IEND");
    if (bytes.size() - at < 12) return fail("chunk cut");
    const std::size_t length = u32(bytes, at);
    if (bytes.size() - at - 12 < length) return fail("chunk longer than the file");
    const std::string type(bytes.begin() + static_cast<std::ptrdiff_t>(at) + 4,
                           bytes.begin() + static_cast<std::ptrdiff_t>(at) + 8);
    if (::crc32(0, bytes.data() + at + 4, static_cast<uInt>(length + 4)) != u32(bytes, at + 8 + length))
      return fail("wrong checksum");
    const auto data = bytes.begin() + static_cast<std::ptrdiff_t>(at) + 8;
    if (type == "IHDR") {
      if (length != 13 || data[8] != 8 || data[9] != 2 || data[10] != 0 || data[11] != 0 || data[12] != 0)
        return fail("header");
      result.picture.width = static_cast<int>(u32(bytes, at + 8));
      result.picture.height = static_cast<int>(u32(bytes, at + 12));
    } else if (type == "IDAT") {
      compressed.insert(compressed.end(), data, data + static_cast<std::ptrdiff_t>(length));
    } else if (type == "IEND") {
      ended = true;
    }
    at += 12 + length;
  }
  if (!ended) return fail("no IEND");
  const std::size_t stride = 3 * static_cast<std::size_t>(result.picture.width);
  const auto height = static_cast<std::size_t>(result.picture.height);
  std::vector<std::uint8_t> rows((stride + 1) * height);
  uLongf size = rows.size();
  if (::uncompress(rows.data(), &size, compressed.data(), compressed.size()) != Z_OK || size != rows.size())
    return fail("data");
  auto& rgb = result.picture.rgb;
  rgb.assign(stride * height, 0);
  for (std::size_t y = 0; y < height; ++y) {
    const int filter = rows[y * (stride + 1)];
    if (filter > 4) return fail("filter");
    for (std::size_t x = 0; x < stride; ++x) {
      const int left = x >= 3 ? rgb[y * stride + x - 3] : 0;
      const int up = y > 0 ? rgb[(y - 1) * stride + x] : 0;
      const int corner = x >= 3 && y > 0 ? rgb[(y - 1) * stride + x - 3] : 0;
      rgb[y * stride + x] = unfiltered(filter, rows[y * (stride + 1) + 1 + x], left, up, corner);
    }
  }
  return result;
}

}  // namespace lockstep::viewer

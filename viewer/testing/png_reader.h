// Reads the pictures that png_writer.h writes, checking every length and checksum on the way: the tests'
// second opinion.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viewer/timeline/canvas.h"
#include "viewer/window/png_writer.h"

namespace lockstep::viewer {

struct ReadPicture {
  std::string error;  // "" where all is well
  Picture picture;
};

ReadPicture read_png(const std::vector<std::uint8_t>& bytes);

inline Color pixel(const Picture& picture, int x, int y) {
  const std::size_t at = 3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.width) +
                              static_cast<std::size_t>(x));
  return {picture.rgb[at], picture.rgb[at + 1], picture.rgb[at + 2], 255};
}

}  // namespace lockstep::viewer

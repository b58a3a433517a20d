// Writes pictures as PNG (ISO/IEC 15948): 8-bit RGB, zlib-compressed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/result.h"

namespace lockstep::viewer {

// Rows from the top, three bytes a pixel.
struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;
};

// The file's bytes. Precondition: rgb holds 3 · width · height bytes, both positive.
std::vector<std::uint8_t> encode_png(const Picture& picture);

// Writes to a temporary file beside `path` and renames it, so that a full disk leaves no half picture.
Status write_png(const std::filesystem::path& path, const Picture& picture);

}  // namespace lockstep::viewer

#include "viewer/window/png_writer.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

namespace lockstep::viewer {

namespace {

void append_u32(std::vector<std::uint8_t>& bytes, std::uint32_t value) {
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<std::uint8_t>(value >> shift));
}

// Length, type, data, and the checksum of type and data.
void append_chunk(std::vector<std::uint8_t>& file, std::string_view type,
                  const std::vector<std::uint8_t>& data) {
  append_u32(file, static_cast<std::uint32_t>(data.size()));
  const std::size_t start = file.size();
  file.insert(file.end(), type.begin(), type.end());
  file.insert(file.end(), data.begin(), data.end());
  append_u32(file, static_cast<std::uint32_t>(::crc32_z(0, file.data() + start, file.size() - start)));
}

}  // namespace

std::vector<std::uint8_t> encode_png(const Picture& picture) {
  const std::size_t stride = 3 * static_cast<std::size_t>(picture.width);
  // Every row as its difference to the one above (filter 2): rows of a timeline repeat themselves.
  constexpr std::uint8_t kFilterUp = 2;
  std::vector<std::uint8_t> filtered;
  filtered.reserve((stride + 1) * static_cast<std::size_t>(picture.height));
  for (std::size_t y = 0; y < static_cast<std::size_t>(picture.height); ++y) {
    filtered.push_back(kFilterUp);
    for (std::size_t x = 0; x < stride; ++x) {
      const std::uint8_t above = y == 0 ? 0 : picture.rgb[(y - 1) * stride + x];
      filtered.push_back(static_cast<std::uint8_t>(picture.rgb[y * stride + x] - above));
    }
  }
  std::vector<std::uint8_t> compressed(::compressBound(filtered.size()));
  uLongf size = compressed.size();
  // Cannot fail: the output is as large as compressBound() asks, and the level is valid.
  ::compress2(compressed.data(), &size, filtered.data(), filtered.size(), Z_BEST_COMPRESSION);
  compressed.resize(size);

  std::vector<std::uint8_t> file{0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  std::vector<std::uint8_t> header;
  append_u32(header, static_cast<std::uint32_t>(picture.width));
  append_u32(header, static_cast<std::uint32_t>(picture.height));
  // Eight bits a channel, RGB, deflate, adaptive filters, not interlaced.
  header.insert(header.end(), {8, 2, 0, 0, 0});
  append_chunk(file, "IHDR", header);
  append_chunk(file, "IDAT", compressed);
  append_chunk(file, "IEND", {});
  return file;
}

Status write_png(const std::filesystem::path& path, const Picture& picture) {
  const std::vector<std::uint8_t> bytes = encode_png(picture);
  std::filesystem::path temporary = path;
  temporary += ".part";
  std::error_code ignored;
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file) {
      const std::string reason = std::strerror(errno);
      std::filesystem::remove(temporary, ignored);
      return Error{fmt::format("can't write the picture {}: {}", path.string(), reason)};
    }
  }
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (error) {
    std::filesystem::remove(temporary, ignored);
    return Error{fmt::format("can't write the picture {}: {}", path.string(), error.message())};
  }
  return {};
}

}  // namespace lockstep::viewer

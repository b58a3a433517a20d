#include "trace/format/chunk.h"

#include <string.h>

#include <algorithm>

#include "trace/format/bytes.h"
#include "trace/format/checksum.h"

namespace lockstep::trace::format {
namespace {

// Like PNG's: a byte outside ASCII, CR LF and LF, so that a transfer in text mode is noticed at once.
constexpr std::array<std::uint8_t, 8> kFileMagic = {0x89, 'L', 'S', 'T', '\r', '\n', 0x1a, '\n'};
constexpr std::array<std::uint8_t, 4> kChunkMagic = {'L', 'S', 'C', 0xc5};
constexpr std::array<std::uint8_t, 4> kTrailerMagic = {'L', 'S', 'E', 0xe5};

template <std::size_t N>
bool starts_with(std::span<const std::byte> bytes, const std::array<std::uint8_t, N>& magic) {
  return bytes.size() >= N && memcmp(bytes.data(), magic.data(), N) == 0;
}

}  // namespace

std::string kind_name(std::uint8_t kind) {
  if (is_known_event_kind(kind)) return to_string(static_cast<EventKind>(kind));
  switch (static_cast<ChunkKind>(kind)) {
    case ChunkKind::strings:
      return "strings";
    case ChunkKind::lanes:
      return "lanes";
    case ChunkKind::groups:
      return "groups";
    case ChunkKind::metadata:
      return "metadata";
    case ChunkKind::index:
      return "index";
  }
  return "kind " + std::to_string(kind);
}

FileHeaderBytes encode_file_header() noexcept {
  FileHeaderBytes bytes{};
  std::memcpy(bytes.data(), kFileMagic.data(), kFileMagic.size());
  store<std::uint16_t>(&bytes[8], kMajorVersion);
  store<std::uint16_t>(&bytes[10], kMinorVersion);
  store<std::uint32_t>(&bytes[12], kFileHeaderSize);
  store<std::uint64_t>(&bytes[24], checksum(std::span(bytes).first(24)));
  return bytes;
}

bool begins_like_a_trace(std::span<const std::byte> file) noexcept {
  return starts_with(file, kFileMagic) || decode_chunk_header(file, kFileHeaderSize).has_value();
}

std::optional<FileHeader> decode_file_header(std::span<const std::byte> file) noexcept {
  if (file.size() < kFileHeaderSize || !starts_with(file, kFileMagic)) return std::nullopt;
  FileHeader header;
  header.major = load<std::uint16_t>(&file[8]);
  header.minor = load<std::uint16_t>(&file[10]);
  header.intact = load<std::uint64_t>(&file[24]) == checksum(file.first(24));
  return header;
}

ChunkHeaderBytes encode_chunk_header(const ChunkHeader& header, std::uint64_t position) noexcept {
  ChunkHeaderBytes bytes{};
  std::memcpy(bytes.data(), kChunkMagic.data(), kChunkMagic.size());
  store<std::uint8_t>(&bytes[4], header.kind);
  store<std::uint8_t>(&bytes[5], static_cast<std::uint8_t>(header.codec));
  store<std::uint16_t>(&bytes[6], header.flags);
  store<std::uint64_t>(&bytes[8], header.events_before);
  store<std::uint32_t>(&bytes[16], header.first_id);
  store<std::uint32_t>(&bytes[20], header.count);
  store<std::uint32_t>(&bytes[24], header.body_size);
  store<std::uint32_t>(&bytes[28], header.raw_size);
  store<std::int64_t>(&bytes[32], header.begin);
  store<std::int64_t>(&bytes[40], header.end);
  store<std::uint64_t>(&bytes[48], header.body_checksum);
  store<std::uint64_t>(&bytes[56], checksum(std::span(bytes).first(56), position));
  return bytes;
}

std::optional<ChunkHeader> decode_chunk_header(std::span<const std::byte> file,
                                               std::uint64_t position) noexcept {
  if (position > file.size() || file.size() - position < kChunkHeaderSize) return std::nullopt;
  const std::span<const std::byte> bytes = file.subspan(position, kChunkHeaderSize);
  if (!starts_with(bytes, kChunkMagic)) return std::nullopt;
  if (load<std::uint64_t>(&bytes[56]) != checksum(bytes.first(56), position)) return std::nullopt;
  ChunkHeader header;
  header.kind = load<std::uint8_t>(&bytes[4]);
  header.codec = static_cast<Codec>(load<std::uint8_t>(&bytes[5]));
  header.flags = load<std::uint16_t>(&bytes[6]);
  header.events_before = load<std::uint64_t>(&bytes[8]);
  header.first_id = load<std::uint32_t>(&bytes[16]);
  header.count = load<std::uint32_t>(&bytes[20]);
  header.body_size = load<std::uint32_t>(&bytes[24]);
  header.raw_size = load<std::uint32_t>(&bytes[28]);
  header.begin = load<std::int64_t>(&bytes[32]);
  header.end = load<std::int64_t>(&bytes[40]);
  header.body_checksum = load<std::uint64_t>(&bytes[48]);
  return header;
}

TrailerBytes encode_trailer(std::uint64_t index_position, std::uint64_t position) noexcept {
  TrailerBytes bytes{};
  std::memcpy(bytes.data(), kTrailerMagic.data(), kTrailerMagic.size());
  store<std::uint64_t>(&bytes[8], index_position);
  store<std::uint64_t>(&bytes[16], checksum(std::span(bytes).first(16), position));
  return bytes;
}

std::optional<std::uint64_t> decode_trailer(std::span<const std::byte> file) noexcept {
  if (file.size() < kFileHeaderSize + kTrailerSize) return std::nullopt;
  const std::uint64_t position = file.size() - kTrailerSize;
  const std::span<const std::byte> bytes = file.subspan(position);
  if (!starts_with(bytes, kTrailerMagic)) return std::nullopt;
  if (load<std::uint64_t>(&bytes[16]) != checksum(bytes.first(16), position)) return std::nullopt;
  return load<std::uint64_t>(&bytes[8]);
}

std::uint64_t find_chunk(std::span<const std::byte> file, std::uint64_t from) noexcept {
  while (from < file.size()) {
    const void* hit = memmem(file.data() + from, file.size() - from, kChunkMagic.data(), kChunkMagic.size());
    if (hit == nullptr) break;
    from = static_cast<std::uint64_t>(static_cast<const std::byte*>(hit) - file.data());
    if (decode_chunk_header(file, from)) return from;
    ++from;
  }
  return file.size();
}

}  // namespace lockstep::trace::format

// The fixed-size parts of a trace file: file header, chunk header, trailer (docs/trace-format.md).
//
// Every checksum but that of a chunk's body is seeded with the position at which it stands, so that bytes
// which look like a header but stand elsewhere (a name that quotes a trace file) are not taken for one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "trace/events/event.h"

namespace lockstep::trace::format {

inline constexpr std::uint16_t kMajorVersion = 1;
inline constexpr std::uint16_t kMinorVersion = 5;

inline constexpr std::size_t kFileHeaderSize = 32;
inline constexpr std::size_t kChunkHeaderSize = 64;
inline constexpr std::size_t kTrailerSize = 24;

// Limits that writers keep and readers enforce before they allocate.
inline constexpr std::uint32_t kMaxEventsPerChunk = 65536;
inline constexpr std::uint32_t kMaxArgumentsPerChunk = 1U << 18;
inline constexpr std::uint32_t kMaxBodySize = 32U << 20;   // compressed or not
inline constexpr std::uint32_t kMaxStringSize = 1U << 20;  // longer strings are cut by the writer
inline constexpr std::uint32_t kMaxStrings = 1U << 28;
inline constexpr std::uint32_t kMaxLanes = 1U << 20;
inline constexpr std::uint32_t kMaxGroups = 1U << 20;
inline constexpr std::uint32_t kMaxRanksPerGroup = 1U << 20;

// 1 to 63 are event kinds (EventKind); 64 and up are everything else.
enum class ChunkKind : std::uint8_t { strings = 64, lanes = 65, groups = 66, metadata = 67, index = 68 };
inline constexpr std::uint8_t kFirstOtherKind = 64;
constexpr bool holds_events(std::uint8_t kind) {
  return kind > 0 && kind < kFirstOtherKind;
}
constexpr bool is_known_event_kind(std::uint8_t kind) {
  return kind >= static_cast<std::uint8_t>(EventKind::host_range) &&
         kind <= static_cast<std::uint8_t>(EventKind::collective_issue);
}
// "host_range", "strings", "kind 77".
std::string kind_name(std::uint8_t kind);

enum class Codec : std::uint8_t { stored = 0, zstd = 1 };

inline constexpr std::uint16_t kHasLane = 1;  // flag: all events are of the lane in the header
inline constexpr std::uint16_t kCopy = 2;     // flag: rows of a table that stand before, once more

struct ChunkHeader {
  std::uint8_t kind = 0;
  Codec codec = Codec::stored;
  std::uint16_t flags = 0;
  std::uint64_t events_before = 0;  // in all event chunks before this one: tells how many a damaged part held
  std::uint32_t first_id = 0;       // the lane; for strings and groups: the id of the first row
  std::uint32_t count = 0;          // events, or rows
  std::uint32_t body_size = 0;      // as it stands in the file
  std::uint32_t raw_size = 0;       // decompressed
  Nanoseconds begin = 0;            // smallest begin (time); index: position of the previous index chunk
  Nanoseconds end = 0;              // greatest end (time)
  std::uint64_t body_checksum = 0;
};

using FileHeaderBytes = std::array<std::byte, kFileHeaderSize>;
using ChunkHeaderBytes = std::array<std::byte, kChunkHeaderSize>;
using TrailerBytes = std::array<std::byte, kTrailerSize>;

struct FileHeader {
  std::uint16_t major = kMajorVersion;
  std::uint16_t minor = kMinorVersion;
  bool intact = true;  // its checksum is right
};

FileHeaderBytes encode_file_header() noexcept;
// The magic of a trace file, or, where that is damaged, a valid chunk behind the file header.
bool begins_like_a_trace(std::span<const std::byte> file) noexcept;
// Nothing if the bytes do not begin with the magic of a trace file.
std::optional<FileHeader> decode_file_header(std::span<const std::byte> file) noexcept;

ChunkHeaderBytes encode_chunk_header(const ChunkHeader& header, std::uint64_t position) noexcept;
// Nothing if no valid header stands at `position`: too few bytes, wrong magic, wrong checksum.
std::optional<ChunkHeader> decode_chunk_header(std::span<const std::byte> file,
                                               std::uint64_t position) noexcept;

TrailerBytes encode_trailer(std::uint64_t index_position, std::uint64_t position) noexcept;
// The position of the last index chunk, if the file ends with a valid trailer.
std::optional<std::uint64_t> decode_trailer(std::span<const std::byte> file) noexcept;

// The first position at or after `from` where a valid chunk header stands; the file's size if there is none.
std::uint64_t find_chunk(std::span<const std::byte> file, std::uint64_t from) noexcept;

}  // namespace lockstep::trace::format

// Takes trace files apart and puts them together with right checksums: for tests and the fuzzer, which want
// to reach what lies behind the checksums.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "trace/format/block.h"
#include "trace/format/bytes.h"
#include "trace/format/checksum.h"
#include "trace/format/chunk.h"
#include "trace/format/columns.h"
#include "trace/format/compression.h"
#include "trace/format/schema.h"

namespace lockstep::trace::test {

struct RawChunk {
  format::ChunkHeader header;
  std::vector<std::byte> body;  // decompressed
};

// All chunks, index chunks included. The file must be whole.
inline std::vector<RawChunk> take_apart(std::span<const std::byte> file) {
  std::vector<RawChunk> chunks;
  format::Decompressor decompressor;
  std::uint64_t position = format::kFileHeaderSize;
  while (const auto header = format::decode_chunk_header(file, position)) {
    RawChunk& chunk = chunks.emplace_back();
    chunk.header = *header;
    const auto stored = file.subspan(position + format::kChunkHeaderSize, header->body_size);
    chunk.body.assign(stored.begin(), stored.end());
    if (header->codec == format::Codec::zstd) {
      chunk.body.resize(header->raw_size);
      decompressor.decompress(stored, chunk.body);
    }
    position += format::kChunkHeaderSize + header->body_size;
  }
  return chunks;
}

// Writes chunks one by one, uncompressed, and a footer if asked to.
class FileBuilder {
 public:
  FileBuilder() {
    const auto header = format::encode_file_header();
    bytes_.assign(header.begin(), header.end());
  }

  // Sizes, codec, checksum and events_before are set here; the rest of the header is taken as it is.
  FileBuilder& add(format::ChunkHeader header, std::span<const std::byte> body) {
    const std::uint64_t position = bytes_.size();
    header.codec = format::Codec::stored;
    header.body_size = static_cast<std::uint32_t>(body.size());
    header.raw_size = header.body_size;
    header.body_checksum = format::checksum(body);
    header.events_before = events_;
    if (format::holds_events(header.kind)) events_ += header.count;
    const auto bytes = format::encode_chunk_header(header, position);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    bytes_.insert(bytes_.end(), body.begin(), body.end());
    if (index_.full()) index_.grow(1U << 20);
    index_.append({header.kind, header.flags, header.first_id, header.count,
                   static_cast<std::uint32_t>(bytes_.size() - position), header.begin, header.end, position});
    return *this;
  }
  FileBuilder& add(const RawChunk& chunk) { return add(chunk.header, chunk.body); }

  // An index chunk for what was added since the last, and the trailer.
  FileBuilder& finish() {
    format::ColumnEncoder encoder;
    index_.encode(encoder);
    std::vector<std::byte> body;
    for (const auto part : encoder.finish()) body.insert(body.end(), part.begin(), part.end());
    const std::uint64_t position = bytes_.size();
    format::ChunkHeader header;
    header.kind = static_cast<std::uint8_t>(format::ChunkKind::index);
    header.count = index_.size();
    add(header, body);
    const auto trailer = format::encode_trailer(position, bytes_.size());
    bytes_.insert(bytes_.end(), trailer.begin(), trailer.end());
    return *this;
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  std::uint64_t events_ = 0;
  format::Block<format::IndexEntry> index_;
};

// Makes every checksum of a file right again, and every chunk fit into it, whatever its bytes are: afterwards
// a reader believes in all of it. The last bytes become a trailer if they begin like one.
inline void seal(std::vector<std::byte>& file) {
  using format::store;
  if (file.size() < format::kFileHeaderSize) return;
  const auto good = format::encode_file_header();
  std::copy_n(good.begin(), 8, file.begin());
  store<std::uint64_t>(&file[24], format::checksum(std::span(file).first(24)));
  std::size_t end = file.size();
  std::size_t position = format::kFileHeaderSize;
  const auto sample_trailer = format::encode_trailer(0, 0);
  if (end >= position + format::kTrailerSize) {
    const std::size_t at = end - format::kTrailerSize;
    if (file[at + 2] == sample_trailer[2]) {
      std::copy_n(sample_trailer.begin(), 4, file.begin() + static_cast<std::ptrdiff_t>(at));
      store<std::uint64_t>(&file[at + 16], format::checksum(std::span(file).subspan(at, 16), at));
      end = at;
    }
  }
  const auto sample_header = format::encode_chunk_header({}, 0);
  while (end - position >= format::kChunkHeaderSize) {
    const std::size_t room = end - position - format::kChunkHeaderSize;
    std::byte* header = &file[position];
    std::copy_n(sample_header.begin(), 4, header);
    std::uint32_t size = format::load<std::uint32_t>(header + 24);
    if (size > room) size = static_cast<std::uint32_t>(room);
    store<std::uint32_t>(header + 24, size);
    if (header[5] == std::byte{0}) store<std::uint32_t>(header + 28, size);
    store<std::uint64_t>(
        header + 48, format::checksum(std::span(file).subspan(position + format::kChunkHeaderSize, size)));
    store<std::uint64_t>(header + 56, format::checksum(std::span<const std::byte>(header, 56), position));
    position += format::kChunkHeaderSize + size;
  }
}

}  // namespace lockstep::trace::test

#include "trace/format/body.h"

#include "trace/format/checksum.h"

namespace lockstep::trace::format {

IndexEntry entry_of(const ChunkHeader& header, std::uint64_t offset) {
  const auto size = static_cast<std::uint32_t>(kChunkHeaderSize + header.body_size);
  return {header.kind, header.flags, header.first_id, header.count, size, header.begin, header.end, offset};
}

std::string BodyLoader::load(std::span<const std::byte> file, const IndexEntry& entry,
                             std::span<const std::byte>& body) {
  const std::optional<ChunkHeader> header = decode_chunk_header(file, entry.offset);
  if (!header) return "its header is damaged";
  const IndexEntry found = entry_of(*header, entry.offset);
  if (found.kind != entry.kind || found.flags != entry.flags || found.first_id != entry.first_id ||
      found.count != entry.count || found.size != entry.size || found.begin != entry.begin ||
      found.end != entry.end) {
    return "it is not the chunk that the index describes";
  }
  if (header->body_size > kMaxBodySize || header->raw_size > kMaxBodySize) return "it is larger than allowed";
  if (header->body_size > file.size() - entry.offset - kChunkHeaderSize) return "it is cut";
  const std::span<const std::byte> stored = file.subspan(entry.offset + kChunkHeaderSize, header->body_size);
  if (checksum(stored) != header->body_checksum) return "its checksum is wrong";
  switch (header->codec) {
    case Codec::stored:
      if (header->body_size != header->raw_size) return "its sizes contradict each other";
      body = stored;
      return {};
    case Codec::zstd:
      if (scratch_size_ < header->raw_size) {
        scratch_ = std::make_unique_for_overwrite<std::byte[]>(header->raw_size);
        scratch_size_ = header->raw_size;
      }
      if (!decompressor_.decompress(stored, std::span(scratch_.get(), header->raw_size)))
        return "it does not decompress";
      body = std::span<const std::byte>(scratch_.get(), header->raw_size);
      return {};
  }
  return "it uses an unknown compression, " + std::to_string(static_cast<unsigned>(header->codec)) +
         "; a newer version of Lockstep may read it";
}

}  // namespace lockstep::trace::format

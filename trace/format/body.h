// Fetches the body of a chunk: checks header and checksum against what the index says, and decompresses.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "trace/format/chunk.h"
#include "trace/format/compression.h"
#include "trace/format/schema.h"

namespace lockstep::trace::format {

// What an index says of a chunk with this header.
IndexEntry entry_of(const ChunkHeader& header, std::uint64_t offset);

class BodyLoader {
 public:
  // On success an empty string, and `body` is valid until the next call; otherwise what is wrong with the
  // chunk.
  std::string load(std::span<const std::byte> file, const IndexEntry& entry,
                   std::span<const std::byte>& body);

 private:
  Decompressor decompressor_;
  std::unique_ptr<std::byte[]>
      scratch_;  // not cleared: a size that a hostile file claims costs nothing until it is used
  std::size_t scratch_size_ = 0;
};

}  // namespace lockstep::trace::format

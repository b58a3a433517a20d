// Compressed chunks of events that wait in memory until somebody wants them in the file: the last seconds, of
// bounded size. The oldest are forgotten first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "trace/format/chunk.h"

namespace lockstep::trace::format {

class HeldChunks {
 public:
  struct Chunk {
    ChunkHeader header;
    std::vector<std::byte> body;
  };

  HeldChunks(Nanoseconds time, std::size_t bytes) : time_(time), limit_(bytes) {}

  // Keeps a copy, and forgets what has become too old or too much. Throws std::bad_alloc; then nothing has
  // changed.
  void add(const ChunkHeader& header, std::span<const std::byte> body);

  bool empty() const { return chunks_.empty(); }
  const Chunk& front() const { return chunks_.front(); }
  void pop_front();
  // All that was held is in the file now.
  void written() { since_ = kUnknownTime; }
  // Forgets all. Returns how many events that were.
  std::uint64_t clear() noexcept;

  // Memory that the chunks take, their own overhead included.
  std::size_t bytes() const { return bytes_; }
  // Greatest end of what was forgotten since written(): everything later is here. kUnknownTime: nothing was.
  Nanoseconds since() const { return since_; }

 private:
  static std::size_t cost(const Chunk& chunk);
  void forget_front();

  std::deque<Chunk> chunks_;  // in the order in which they came
  Nanoseconds time_;
  std::size_t limit_;
  std::size_t bytes_ = 0;
  Nanoseconds newest_ = kUnknownTime;  // greatest end seen
  Nanoseconds since_ = kUnknownTime;
};

}  // namespace lockstep::trace::format

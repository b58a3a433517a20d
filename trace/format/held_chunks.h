// Compressed chunks of events that wait in memory until somebody wants them in the file: the last seconds, of
// bounded size. The oldest are forgotten first.
//
// The last seconds are those in which something happened: clock snapshots, counters and notes of losses go on
// while a job hangs, and must not push out what led there. They have seconds of their own.
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

  bool empty() const { return happenings_.chunks.empty() && background_.chunks.empty(); }
  // The next one to write: of one kind and lane they come in the order in which they were added.
  const Chunk& front() const { return next().chunks.front(); }
  void pop_front() { pop(next()); }
  // All that was held is in the file now.
  void written() { since_ = kUnknownTime; }
  // Forgets all. Returns how many events that were.
  std::uint64_t clear() noexcept;

  // Memory that the chunks take, their own overhead included.
  std::size_t bytes() const { return bytes_; }
  // Greatest end of what was forgotten since written(), background apart: everything later is here.
  // kUnknownTime: nothing was.
  Nanoseconds since() const { return since_; }

 private:
  struct Queue {
    std::deque<Chunk> chunks;           // in the order in which they came
    Nanoseconds newest = kUnknownTime;  // greatest end seen
  };
  static std::size_t cost(const Chunk& chunk);
  Queue& next() { return happenings_.chunks.empty() ? background_ : happenings_; }
  const Queue& next() const { return happenings_.chunks.empty() ? background_ : happenings_; }
  void pop(Queue& queue);
  void forget_front(Queue& queue);
  void forget_old(Queue& queue);

  Queue happenings_;
  Queue background_;
  Nanoseconds time_;
  std::size_t limit_;
  std::size_t bytes_ = 0;
  Nanoseconds since_ = kUnknownTime;
};

}  // namespace lockstep::trace::format

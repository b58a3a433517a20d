#include "trace/format/held_chunks.h"

#include <algorithm>

namespace lockstep::trace::format {

namespace {

constexpr std::size_t kAllocationOverhead = 32;

// Goes on whatever the job does.
bool is_background(std::uint8_t kind) {
  return kind == static_cast<std::uint8_t>(EventKind::clock_snapshot) ||
         kind == static_cast<std::uint8_t>(EventKind::counter) ||
         kind == static_cast<std::uint8_t>(EventKind::drop);
}

}  // namespace

std::size_t HeldChunks::cost(const Chunk& chunk) {
  return sizeof(Chunk) + chunk.body.capacity() + kAllocationOverhead;
}

void HeldChunks::add(const ChunkHeader& header, std::span<const std::byte> body) {
  Queue& queue = is_background(header.kind) ? background_ : happenings_;
  queue.chunks.push_back(Chunk{header, {body.begin(), body.end()}});
  bytes_ += cost(queue.chunks.back());
  queue.newest = std::max(queue.newest, header.end);
  forget_old(queue);
  while (!empty() && bytes_ > limit_) forget_front(next());
}

void HeldChunks::forget_old(Queue& queue) {
  // Chunks come in order of being sealed, which is nearly that of their ends: one that ends late may keep a
  // few older ones behind it for a while.
  while (!queue.chunks.empty() && queue.newest - queue.chunks.front().header.end > time_) forget_front(queue);
}

void HeldChunks::pop(Queue& queue) {
  bytes_ -= cost(queue.chunks.front());
  queue.chunks.pop_front();
}

void HeldChunks::forget_front(Queue& queue) {
  if (&queue == &happenings_) since_ = std::max(since_, queue.chunks.front().header.end);
  pop(queue);
}

std::uint64_t HeldChunks::clear() noexcept {
  std::uint64_t events = 0;
  for (Queue* const queue : {&happenings_, &background_}) {
    for (const Chunk& chunk : queue->chunks) events += chunk.header.count;
    queue->chunks.clear();
  }
  bytes_ = 0;
  return events;
}

}  // namespace lockstep::trace::format

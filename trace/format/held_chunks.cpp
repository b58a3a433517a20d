#include "trace/format/held_chunks.h"

#include <algorithm>

namespace lockstep::trace::format {

namespace {
constexpr std::size_t kAllocationOverhead = 32;
}  // namespace

std::size_t HeldChunks::cost(const Chunk& chunk) {
  return sizeof(Chunk) + chunk.body.capacity() + kAllocationOverhead;
}

void HeldChunks::add(const ChunkHeader& header, std::span<const std::byte> body) {
  chunks_.push_back(Chunk{header, {body.begin(), body.end()}});
  bytes_ += cost(chunks_.back());
  newest_ = std::max(newest_, header.end);
  while (!chunks_.empty() && bytes_ > limit_) forget_front();
  // Chunks come in order of being sealed, which is nearly that of their ends: one that ends late may keep a
  // few older ones behind it for a while.
  while (!chunks_.empty() && newest_ - chunks_.front().header.end > time_) forget_front();
}

void HeldChunks::pop_front() {
  bytes_ -= cost(chunks_.front());
  chunks_.pop_front();
}

void HeldChunks::forget_front() {
  since_ = std::max(since_, chunks_.front().header.end);
  pop_front();
}

std::uint64_t HeldChunks::clear() noexcept {
  std::uint64_t events = 0;
  for (const Chunk& chunk : chunks_) events += chunk.header.count;
  chunks_.clear();
  bytes_ = 0;
  return events;
}

}  // namespace lockstep::trace::format

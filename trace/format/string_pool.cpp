#include "trace/format/string_pool.h"

#include <algorithm>
#include <span>
#include <utility>

#include "trace/format/checksum.h"

namespace lockstep::trace::format {
namespace {

constexpr std::size_t kBlockSize = 64U << 10;
constexpr std::size_t kFirstSlots = 256;

}  // namespace

StringId StringPool::intern(std::string_view text) {
  if (text.empty()) return 0;
  if (2 * (used_ + 1) > slots_.size()) grow();
  const std::uint64_t hash = checksum(std::as_bytes(std::span(text)));
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = hash & mask;
  for (; slots_[i].id != 0; i = (i + 1) & mask) {
    if (slots_[i].hash == hash && slots_[i].text == text) return slots_[i].id;
  }
  const std::string_view kept = keep(text);
  pending_.push_back(kept);
  pending_bytes_ += kept.size();
  slots_[i] = {hash, next_, kept};
  ++used_;
  return next_++;
}

std::string_view StringPool::keep(std::string_view text) {
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < text.size()) {
    std::vector<char> block;
    block.reserve(std::max(kBlockSize, text.size()));
    kept_bytes_ += block.capacity();
    blocks_.push_back(std::move(block));
  }
  std::vector<char>& block = blocks_.back();
  const std::size_t begin = block.size();
  block.insert(block.end(), text.begin(), text.end());  // never reallocates: what was kept stays where it is
  return {block.data() + begin, text.size()};
}

void StringPool::grow() {
  std::vector<Slot> larger(std::max(kFirstSlots, 2 * slots_.size()));
  for (const Slot& slot : slots_) {
    if (slot.id == 0) continue;
    std::size_t i = slot.hash & (larger.size() - 1);
    while (larger[i].id != 0) i = (i + 1) & (larger.size() - 1);
    larger[i] = slot;
  }
  slots_ = std::move(larger);
}

void StringPool::pending_written() {
  first_pending_ = next_;
  pending_.clear();
  pending_bytes_ = 0;
  if (kept_bytes_ + used_ * sizeof(Slot) <= remember_) return;
  slots_ = {};
  used_ = 0;
  blocks_.clear();
  kept_bytes_ = 0;
}

}  // namespace lockstep::trace::format

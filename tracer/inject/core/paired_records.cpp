#include "tracer/inject/core/paired_records.h"

#include <algorithm>

#include "tracer/inject/core/gate_word.h"
#include "tracer/inject/core/record_body.h"

namespace lockstep::tracer {

namespace {

constexpr std::uint32_t kTracked = 64;
constexpr std::uint32_t kEndBytes = sizeof(RecordHeader) + kMaxEndBytes;
static_assert(kEndBytes % Ring::kPopBytes == 0);

// What this thread has begun and not ended.
struct Begun {
  std::uint64_t recorded = 0;  // bit n: the begin at depth n was, and has room for its end
  std::uint32_t depth = 0;
};
// As the tracer's own: no allocation at first use.
constinit thread_local Begun begun __attribute__((tls_model("initial-exec")));

void write(Ring& ring, std::byte* record, std::uint32_t size, SourceId source, std::uint8_t type,
           std::uint32_t bytes) noexcept {
  write_header(record, size, RecordKind::source, type, source, bytes, read_ticks(Tracer::instance().ticks()));
  ring.publish(size);
}

}  // namespace

bool emit_begin(SourceId source, std::uint8_t type, const void* body, std::uint32_t bytes, const void* more,
                std::uint32_t more_bytes) noexcept {
  Tracer& tracer = Tracer::instance();
  const Section section;
  if (!section.entered()) [[unlikely]] {
    tracer.count_reentrant();
    return false;  // its end comes in the same handler, and goes the same way
  }
  const std::uint32_t level = begun.depth++;
  const std::uint64_t bit = level < kTracked ? std::uint64_t{1} << level : 0;
  begun.recorded &= ~bit;
  if (source == Tracer::kNoSource || !control::is_recording()) return false;
  Ring* const ring = tracer.ring();
  if (ring == nullptr) [[unlikely]]
    return false;
  const RecordBody parts{body, bytes, more, more_bytes};
  const std::uint32_t size = parts.record_bytes();
  std::byte* const record = ring->claim(size, bit != 0 ? kEndBytes : 0);
  if (record == nullptr) [[unlikely]] {
    ring->count_drop();
    return false;
  }
  parts.copy_to(record);
  write(*ring, record, size, source, type, parts.bytes());
  if (bit != 0) {
    begun.recorded |= bit;
    for (std::uint32_t room = 0; room < kEndBytes; room += Ring::kPopBytes) ring->reserve_pop();
  }
  return true;
}

bool emit_end(SourceId source, std::uint8_t type, const void* body, std::uint32_t bytes) noexcept {
  const Section section;
  if (!section.entered()) [[unlikely]]
    return false;  // its begin was counted
  const bool known = begun.depth > 0 && begun.depth <= kTracked;
  if (begun.depth > 0) --begun.depth;
  Ring* const ring = thread_state.ring;
  if (known) {
    const std::uint64_t bit = std::uint64_t{1} << begun.depth;
    if ((begun.recorded & bit) == 0 || ring == nullptr) return false;
    begun.recorded &= ~bit;
    for (std::uint32_t room = 0; room < kEndBytes; room += Ring::kPopBytes) ring->release_pop();
  } else if (ring == nullptr || !control::is_recording()) {
    return false;
  }
  if (source == Tracer::kNoSource) return false;
  const RecordBody part{body, std::min(bytes, kMaxEndBytes), nullptr, 0};
  const std::uint32_t size = part.record_bytes();
  std::byte* const record = ring->claim_end(size);
  if (record == nullptr) [[unlikely]] {
    ring->count_drop();
    return false;
  }
  part.copy_to(record);
  write(*ring, record, size, source, type, part.bytes());
  return true;
}

void forget_begins_after_fork() noexcept {
  begun.recorded = 0;
}

}  // namespace lockstep::tracer

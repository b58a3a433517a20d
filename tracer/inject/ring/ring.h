// The queue between one application thread and the writer thread: single producer, single consumer, no locks,
// no allocation, no system call but one wake-up of the writer per half ring.
//
// Records are contiguous and a multiple of 16 bytes. Where the next one would cross the buffer's end, a
// padding record fills the rest. A push keeps room for its pop: a pop whose push was accepted always fits, so
// that a full ring loses whole ranges and nesting stays right.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lockstep::tracer {

// `source`: a record of a source beyond NVTX (core/source.h), whose number stands in the place of the
// domain, its own type in that of the flags and the size of its body in that of the message.
enum class RecordKind : std::uint8_t { padding = 0, push, pop, start, end, mark, source };

// What follows the header, in this order, each rounded up to 16 bytes.
namespace record_flags {
inline constexpr std::uint8_t kNumericTypeMask = 0x07;  // nvtxPayloadType_t of Style::numeric, 0 for none
inline constexpr std::uint8_t kStyle = 0x08;            // a Style
inline constexpr std::uint8_t kRegistered = 0x10;  // the message is the 8-byte handle of a registered string
inline constexpr std::uint8_t kWide = 0x20;        // the message is wchar_t, not char
inline constexpr std::uint8_t kRangeId = 0x40;     // a RangeReference
inline constexpr std::uint8_t kPayload = 0x80;     // extended payloads (sources/nvtx/payload_copy.h)
}  // namespace record_flags

inline constexpr std::uint32_t kRecordUnit = 16;

struct RecordHeader {
  std::uint16_t units = 0;  // size of the whole record in units of 16 bytes
  RecordKind kind = RecordKind::padding;
  std::uint8_t flags = 0;
  std::uint16_t domain = 0;
  std::uint16_t message_bytes = 0;
  std::uint64_t ticks = 0;
};
static_assert(sizeof(RecordHeader) == kRecordUnit);

// Writes a header in two stores of eight bytes: one assembled from smaller ones costs a stall when it is read
// back.
inline void write_header(std::byte* out, std::uint32_t bytes, RecordKind kind, std::uint8_t flags,
                         std::uint16_t domain, std::uint32_t message_bytes, std::uint64_t ticks) noexcept {
  const std::uint64_t word = (bytes / kRecordUnit) | static_cast<std::uint64_t>(kind) << 16U |
                             std::uint64_t{flags} << 24U | std::uint64_t{domain} << 32U |
                             std::uint64_t{message_bytes} << 48U;
  std::memcpy(out, &word, sizeof word);
  std::memcpy(out + sizeof word, &ticks, sizeof ticks);
}

struct RangeReference {
  std::uint64_t id = 0;
  std::uint64_t unused = 0;
};

struct Style {
  std::uint32_t category = 0;
  std::uint32_t color = 0;
  std::uint64_t numeric = 0;  // bit pattern
};

constexpr std::uint32_t round_up_to_unit(std::uint32_t bytes) {
  return (bytes + kRecordUnit - 1) & ~(kRecordUnit - 1);
}

// How deep a thread is in its push/pop ranges of one domain, and which of them were dropped. Written by the
// producer alone; relaxed atomics because the writer clears them when it hands the ring to another thread.
struct DomainStack {
  static constexpr std::uint32_t kTracked = 64;
  std::atomic<std::uint32_t> depth{0};
  // Beyond kTracked levels one bit a level is no longer kept: once a push is dropped there, all pushes inside
  // it are.
  std::atomic<std::uint32_t> dropped_beyond{0};
  std::atomic<std::uint64_t> dropped{0};  // bit n: the push at level n was dropped
};

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): each side has cache lines of its own
class Ring {
 public:
  static constexpr std::uint32_t kMaxDomains = 1024;
  static constexpr std::uint32_t kPopBytes = kRecordUnit;
  static constexpr std::uint32_t kPrefetchDistance = 512;

  // --- the producer ---

  // Room for a record of `bytes` (a multiple of 16), with `later` more bytes kept free for its pop. nullptr
  // if there is none; the writer has then been woken. Nothing is visible to the writer before publish().
  std::byte* claim(std::uint32_t bytes, std::uint32_t later) noexcept {
    std::byte* const fast = claim_at_once(bytes + later);
    return fast != nullptr ? fast : claim_slowly(bytes, later, false);
  }
  // The same for records that end something and were promised room, or may use the last sixteenth of the
  // buffer.
  std::byte* claim_end(std::uint32_t bytes) noexcept {
    std::byte* const fast = claim_at_once(bytes);
    return fast != nullptr ? fast : claim_slowly(bytes, 0, true);
  }
  // Room for up to `bytes` if no look at the writer's position is needed to know it, else nullptr.
  std::byte* claim_at_once(std::uint32_t bytes) noexcept {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head + bytes > limit_.load(std::memory_order_relaxed)) [[unlikely]]
      return nullptr;
    std::byte* const room = buffer_ + (head & mask_);
    // The writer read these lines on another core when they were last used: ask for them before they are
    // needed.
    __builtin_prefetch(room + kPrefetchDistance, 1);
    return room;
  }
  void publish(std::uint32_t bytes) noexcept {
    head_.store(head_.load(std::memory_order_relaxed) + bytes, std::memory_order_release);
  }
  // A push was published: room for its pop is put aside, until that comes.
  void reserve_pop() noexcept {
    limit_.store(limit_.load(std::memory_order_relaxed) - kPopBytes, std::memory_order_relaxed);
  }
  void release_pop() noexcept {
    limit_.store(limit_.load(std::memory_order_relaxed) + kPopBytes, std::memory_order_relaxed);
  }
  void count_drop() noexcept { dropped_.fetch_add(1, std::memory_order_relaxed); }
  void count_reentrant_drop() noexcept { reentrant_.fetch_add(1, std::memory_order_relaxed); }
  DomainStack& stack(std::uint16_t domain) noexcept { return stacks_[domain]; }
  // A number that no other range of this process has.
  std::uint64_t next_range_id() noexcept {
    const std::uint64_t id = range_ids_.load(std::memory_order_relaxed) + 1;
    range_ids_.store(id, std::memory_order_relaxed);
    return id;
  }
  // The greatest record that may be claimed.
  std::uint32_t max_record_bytes() const noexcept { return max_record_bytes_; }

  // --- the consumer ---

  std::uint64_t head() const noexcept { return head_.load(std::memory_order_acquire); }
  std::uint64_t tail() const noexcept { return tail_.load(std::memory_order_relaxed); }
  const std::byte* at(std::uint64_t position) const noexcept { return buffer_ + (position & mask_); }
  void consume_to(std::uint64_t position) noexcept { tail_.store(position, std::memory_order_release); }
  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }
  std::uint64_t reentrant_drops() const noexcept { return reentrant_.load(std::memory_order_relaxed); }
  std::uint64_t capacity() const noexcept { return mask_ + 1; }

  // --- whoever owns the ring between threads ---

  // Gives the ring its memory: `buffer` of `capacity` bytes (a power of two), `stacks` of kMaxDomains zeroed
  // entries, and the word that a full ring wakes the writer through (tracer/inject/ring/wake.h).
  void attach(std::byte* buffer, std::uint64_t capacity, DomainStack* stacks,
              std::atomic<std::uint32_t>* wake) noexcept;
  bool attached() const noexcept { return buffer_ != nullptr; }
  // Makes the ring fit for another thread. Precondition: drained, and its former thread is gone.
  void recycle() noexcept;
  // Range ids are counted from here. Called by the thread that takes the ring.
  void begin(std::uint64_t first_range_id) noexcept {
    range_ids_.store(first_range_id, std::memory_order_relaxed);
  }

 private:
  std::byte* claim_slowly(std::uint32_t bytes, std::uint32_t later, bool use_slack) noexcept;

  // Written by the producer only, at every event.
  alignas(64) std::atomic<std::uint64_t> head_{0};
  // Claims that end at or before it need no look at the tail: base_, less what is promised to the pops of
  // open ranges.
  std::atomic<std::uint64_t> limit_{0};
  std::atomic<std::uint64_t> base_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> reentrant_{0};
  std::atomic<std::uint64_t> range_ids_{0};
  // Read by both, for every record: on the producer's line each look of the consumer would cost both a miss.
  alignas(64) std::byte* buffer_ = nullptr;
  std::uint64_t mask_ = 0;
  DomainStack* stacks_ = nullptr;
  std::uint64_t slack_ = 0;
  std::uint32_t max_record_bytes_ = 0;
  std::atomic<std::uint32_t>* wake_ = nullptr;
  // Written by the consumer only.
  alignas(64) std::atomic<std::uint64_t> tail_{0};
};

}  // namespace lockstep::tracer

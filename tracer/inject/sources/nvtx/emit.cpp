#include "tracer/inject/sources/nvtx/emit.h"

#include <wchar.h>

#include <algorithm>
#include <cstring>

#include "tracer/inject/sources/nvtx/admission.h"
#include "tracer/inject/sources/nvtx/payload_copy.h"
#include "tracer/inject/sources/nvtx/registry.h"
#include "tracer/inject/sources/nvtx/short_text.h"

namespace lockstep::tracer::nvtx {

namespace {

// Longer messages are cut. A record's header has 16 bits for it.
constexpr std::uint32_t kLongestMessage = 32768;

std::uint32_t longest_message(const Ring& ring) {
  return std::min(kLongestMessage, ring.max_record_bytes() / 2) & ~(kRecordUnit - 1);
}

// The bytes that follow the header and the reference to a range.
std::uint32_t body_bytes(const Event& event) {
  const std::uint32_t style = (event.flags & record_flags::kStyle) != 0 ? sizeof(Style) : 0;
  return style + round_up_to_unit(event.message_bytes);
}

std::byte* write_body(const Event& event, std::byte* out) {
  if ((event.flags & record_flags::kStyle) != 0) {
    std::memcpy(out, &event.style, sizeof event.style);
    out += sizeof event.style;
  }
  if (event.message_bytes != 0) std::memcpy(out, event.message, event.message_bytes);
  return out + round_up_to_unit(event.message_bytes);
}

// Writes a whole record; a range's id if `id` isn't 0. nullptr if there was no room. The caller publishes.
struct Written {
  std::byte* record = nullptr;
  std::uint32_t bytes = 0;
};

Written write_plain(Ring& ring, Event& event, RecordKind kind, std::uint64_t id, std::uint32_t later) {
  const std::uint32_t reference = id != 0 ? sizeof(RangeReference) : 0;
  const std::uint32_t bytes = sizeof(RecordHeader) + reference + body_bytes(event);
  std::byte* const record = kind == RecordKind::end ? ring.claim_end(bytes) : ring.claim(bytes, later);
  if (record == nullptr) [[unlikely]]
    return {};
  std::byte* out = record + sizeof(RecordHeader);
  if (id != 0) {
    event.flags |= record_flags::kRangeId;
    const RangeReference range{id, 0};
    std::memcpy(out, &range, sizeof range);
    out += sizeof range;
  }
  write_body(event, out);
  return {record, bytes};
}

[[gnu::noinline]] Written write_with_payload(Ring& ring, Event& event, RecordKind kind, std::uint64_t id,
                                             std::uint32_t later) {
  const std::uint32_t reference = id != 0 ? sizeof(RangeReference) : 0;
  const std::uint32_t before = sizeof(RecordHeader) + reference + body_bytes(event);
  const PayloadCopy payload(Registry::instance().schemas(), event.domain, event.payloads, event.payload_count,
                            ring.max_record_bytes() - before);
  const std::uint32_t bytes = before + round_up_to_unit(payload.bytes());
  std::byte* const record = kind == RecordKind::end ? ring.claim_end(bytes) : ring.claim(bytes, later);
  if (record == nullptr) return {};
  std::byte* out = record + sizeof(RecordHeader);
  event.flags |= record_flags::kPayload;
  if (id != 0) {
    event.flags |= record_flags::kRangeId;
    const RangeReference range{id, 0};
    std::memcpy(out, &range, sizeof range);
    out += sizeof range;
  }
  payload.write(write_body(event, out));
  return {record, bytes};
}

inline Written write_record(Ring& ring, Event& event, RecordKind kind, std::uint64_t id,
                            std::uint32_t later) {
  // A multiple of the unit, so of a wide character too.
  event.message_bytes = std::min(event.message_bytes, longest_message(ring));
  if (event.payload_count != 0) return write_with_payload(ring, event, kind, id, later);
  return write_plain(ring, event, kind, id, later);
}

inline void finish(Ring& ring, const Event& event, RecordKind kind, Written written, std::uint64_t ticks) {
  write_header(written.record, written.bytes, kind, event.flags, event.domain, event.message_bytes, ticks);
  ring.publish(written.bytes);
}

// Enters a push in the thread's stack of that domain; returns its level. `written` tells whether a record
// will be there; false comes back where it must not be published after all.
inline int enter(DomainStack& stack, bool& written) {
  const std::uint32_t level = stack.depth.load(std::memory_order_relaxed);
  stack.depth.store(level + 1, std::memory_order_relaxed);
  if (level < DomainStack::kTracked) [[likely]] {
    const std::uint64_t bit = std::uint64_t{1} << level;
    const std::uint64_t dropped = stack.dropped.load(std::memory_order_relaxed);
    if (!written || (dropped & bit) != 0) [[unlikely]] {
      stack.dropped.store(written ? dropped & ~bit : dropped | bit, std::memory_order_relaxed);
    }
  } else {
    const std::uint32_t beyond = stack.dropped_beyond.load(std::memory_order_relaxed);
    if (!written || beyond != 0) {
      stack.dropped_beyond.store(beyond + 1, std::memory_order_relaxed);
      written = false;
    }
  }
  return static_cast<int>(level);
}

// Leaves the innermost range of the stack: its level, or -1 if there is none. `recorded` tells whether its
// push was.
inline int leave(DomainStack& stack, bool& recorded) {
  const std::uint32_t depth = stack.depth.load(std::memory_order_relaxed);
  recorded = false;
  if (depth == 0) return -1;
  const std::uint32_t level = depth - 1;
  stack.depth.store(level, std::memory_order_relaxed);
  if (level < DomainStack::kTracked) [[likely]] {
    recorded = (stack.dropped.load(std::memory_order_relaxed) >> level & 1U) == 0;
  } else {
    const std::uint32_t beyond = stack.dropped_beyond.load(std::memory_order_relaxed);
    recorded = beyond == 0;
    if (beyond != 0) stack.dropped_beyond.store(beyond - 1, std::memory_order_relaxed);
  }
  return static_cast<int>(level);
}

// The calling thread's ring for an event of that domain; nullptr if the event can't be recorded (counted).
inline Ring* ring_for(Tracer& tracer, std::uint64_t domain) {
  if (domain >= Ring::kMaxDomains) [[unlikely]] {
    tracer.count_refused();
    return nullptr;
  }
  return tracer.ring();
}

// A push that isn't to be recorded: the level is counted, so that its pop is known for what it is.
inline int push_unrecorded(Tracer& tracer, std::uint16_t domain) {
  Ring* const ring = ring_for(tracer, domain);
  if (ring == nullptr) [[unlikely]]
    return NVTX_NO_PUSH_POP_TRACKING;
  bool keep = false;
  return enter(ring->stack(domain), keep);
}

inline int push_in(Tracer& tracer, Event& event) {
  Ring* const ring = ring_for(tracer, event.domain);
  if (ring == nullptr) [[unlikely]]
    return NVTX_NO_PUSH_POP_TRACKING;
  const Written written = write_record(*ring, event, RecordKind::push, 0, Ring::kPopBytes);
  bool keep = written.record != nullptr;
  const int level = enter(ring->stack(event.domain), keep);
  if (!keep) [[unlikely]] {
    ring->count_drop();
    return level;
  }
  ring->reserve_pop();
  // The last thing before the range begins, as the first thing when it ends: our own time stays outside.
  finish(*ring, event, RecordKind::push, written, read_ticks(tracer.ticks()));
  return level;
}

}  // namespace

void describe(Event& event, const char* message) noexcept {
  if (message == nullptr) return;
  event.message = message;
  event.message_bytes = static_cast<std::uint32_t>(strnlen(message, kLongestMessage));
}

void describe(Event& event, const wchar_t* message) noexcept {
  if (message == nullptr) return;
  event.message = message;
  event.message_bytes =
      static_cast<std::uint32_t>(wcsnlen(message, kLongestMessage / sizeof(wchar_t)) * sizeof(wchar_t));
  event.flags |= record_flags::kWide;
}

void describe(Event& event, const nvtxEventAttributes_t* attributes) noexcept {
  if (attributes == nullptr || attributes->size < sizeof(nvtxEventAttributes_t)) return;
  if (attributes->messageType == NVTX_MESSAGE_TYPE_ASCII) {
    describe(event, attributes->message.ascii);
  } else if (attributes->messageType == NVTX_MESSAGE_TYPE_UNICODE) {
    describe(event, attributes->message.unicode);
  } else if (attributes->messageType == NVTX_MESSAGE_TYPE_REGISTERED) {
    event.handle = reinterpret_cast<std::uintptr_t>(attributes->message.registered);
    event.message = &event.handle;
    event.message_bytes = sizeof event.handle;
    event.flags |= record_flags::kRegistered;
  }
  const bool colored = attributes->colorType == NVTX_COLOR_ARGB;
  const std::int32_t type = attributes->payloadType;
  const bool numeric = type >= NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 && type <= NVTX_PAYLOAD_TYPE_FLOAT;
  if (attributes->category != 0 || colored || numeric) {
    event.style.category = attributes->category;
    event.style.color = colored ? attributes->color : 0;
    event.style.numeric = numeric ? attributes->payload.ullValue : 0;
    event.flags |= record_flags::kStyle;
    if (numeric) event.flags |= static_cast<std::uint8_t>(type);
  }
  if (type == NVTX_PAYLOAD_TYPE_EXT && attributes->reserved0 > 0 && attributes->payload.ullValue != 0) {
    const auto address = static_cast<std::uintptr_t>(attributes->payload.ullValue);
    event.payloads =
        reinterpret_cast<const nvtxPayloadData_t*>(address);  // NOLINT(performance-no-int-to-ptr)
    event.payload_count = static_cast<std::size_t>(attributes->reserved0);
  }
}

void describe(Event& event, const nvtxPayloadData_t* payloads, std::size_t count) noexcept {
  if (payloads == nullptr) return;
  event.payloads = payloads;
  event.payload_count = count;
}

int push_text(const char* message) noexcept {
  Tracer& tracer = Tracer::instance();
  const Section section;
  if (!section.entered()) [[unlikely]] {
    tracer.count_reentrant();
    return NVTX_NO_PUSH_POP_TRACKING;
  }
  if (!control::is_recording()) [[unlikely]]
    return push_unrecorded(tracer, Registry::kDefaultDomain);
  Ring* const ring = thread_state.ring;
  if (ring != nullptr && message != nullptr) [[likely]] {
    // Room for the longest text that is copied while its end is looked for.
    std::byte* const record = ring->claim_at_once(sizeof(RecordHeader) + kShortText + Ring::kPopBytes);
    const std::uint32_t length =
        record != nullptr ? copy_short_text(message, record + sizeof(RecordHeader)) : kNotShort;
    if (length != kNotShort) [[likely]] {
      bool keep = true;
      const int level = enter(ring->stack(Registry::kDefaultDomain), keep);
      if (keep) [[likely]] {
        ring->reserve_pop();
        const std::uint32_t bytes = sizeof(RecordHeader) + round_up_to_unit(length);
        write_header(record, bytes, RecordKind::push, 0, Registry::kDefaultDomain, length,
                     read_ticks(tracer.ticks()));
        ring->publish(bytes);
      } else {
        ring->count_drop();
      }
      return level;
    }
  }
  Event event;
  describe(event, message);
  return push_in(tracer, event);
}

int push(Event& event) noexcept {
  Tracer& tracer = Tracer::instance();
  const bool admitted = admit(event, true);
  const Section section;
  if (!section.entered()) [[unlikely]] {
    tracer.count_reentrant();
    return NVTX_NO_PUSH_POP_TRACKING;
  }
  if (!admitted) [[unlikely]]
    return push_unrecorded(tracer, event.domain);
  return push_in(tracer, event);
}

int pop(std::uint64_t domain, const nvtxPayloadData_t* payloads, std::size_t count) noexcept {
  Tracer& tracer = Tracer::instance();
  // While nothing is recorded the clock needn't be read, but for the few ranges that were begun before.
  const bool at_once = control::is_recording();
  std::uint64_t ticks = at_once ? read_ticks(tracer.ticks()) : 0;
  const Section section;
  // Inside the tracer, or in a domain beyond the last: the push was counted, its pop isn't another loss.
  if (!section.entered() || domain >= Ring::kMaxDomains) [[unlikely]]
    return NVTX_NO_PUSH_POP_TRACKING;
  Ring* const ring = thread_state.ring;
  if (ring == nullptr) [[unlikely]]
    return NVTX_NO_PUSH_POP_TRACKING;
  bool recorded = false;
  const int level = leave(ring->stack(static_cast<std::uint16_t>(domain)), recorded);
  if (!recorded) [[unlikely]]
    return level;
  if (!at_once) [[unlikely]]
    ticks = read_ticks(tracer.ticks());
  ring->release_pop();
  const auto index = static_cast<std::uint16_t>(domain);
  if (payloads != nullptr && count != 0) [[unlikely]] {
    Event event;
    event.domain = index;
    describe(event, payloads, count);
    const Written written = write_with_payload(*ring, event, RecordKind::pop, 0, 0);
    if (written.record != nullptr) {
      finish(*ring, event, RecordKind::pop, written, ticks);
      return level;
    }
    // No room for the payload: the range is kept without it.
    ring->count_drop();
  }
  // Its room was kept free since the push.
  std::byte* const record = ring->claim_end(Ring::kPopBytes);
  if (record != nullptr) [[likely]] {
    write_header(record, Ring::kPopBytes, RecordKind::pop, 0, index, 0, ticks);
    ring->publish(Ring::kPopBytes);
  }
  return level;
}

nvtxRangeId_t start(Event& event) noexcept {
  Tracer& tracer = Tracer::instance();
  if (!admit(event, false)) [[unlikely]]
    return kDroppedRange;
  const Section section;
  if (!section.entered()) [[unlikely]] {
    tracer.count_reentrant();
    return kDroppedRange;
  }
  Ring* const ring = ring_for(tracer, event.domain);
  if (ring == nullptr) [[unlikely]]
    return kDroppedRange;
  const std::uint64_t id = ring->next_range_id();
  const Written written = write_record(*ring, event, RecordKind::start, id, 0);
  if (written.record == nullptr) [[unlikely]] {
    ring->count_drop();
    return kDroppedRange;
  }
  finish(*ring, event, RecordKind::start, written, read_ticks(tracer.ticks()));
  return id;
}

void end(nvtxRangeId_t id, std::uint64_t domain, const nvtxPayloadData_t* payloads,
         std::size_t count) noexcept {
  Tracer& tracer = Tracer::instance();
  const std::uint64_t ticks = read_ticks(tracer.ticks());
  if ((id & kDroppedRange) != 0 || id == 0) return;
  const Section section;
  if (!section.entered()) [[unlikely]]
    return tracer.count_reentrant();
  Ring* const ring = ring_for(tracer, domain);
  if (ring == nullptr) [[unlikely]]
    return;
  Event event;
  event.domain = static_cast<std::uint16_t>(domain);
  if (payloads != nullptr) describe(event, payloads, count);
  const Written written = write_record(*ring, event, RecordKind::end, id, 0);
  if (written.record == nullptr) [[unlikely]]
    return ring->count_drop();
  finish(*ring, event, RecordKind::end, written, ticks);
}

void mark(Event& event) noexcept {
  Tracer& tracer = Tracer::instance();
  if (!admit(event, false)) [[unlikely]]
    return;
  const std::uint64_t ticks = read_ticks(tracer.ticks());
  const Section section;
  if (!section.entered()) [[unlikely]]
    return tracer.count_reentrant();
  Ring* const ring = ring_for(tracer, event.domain);
  if (ring == nullptr) [[unlikely]]
    return;
  const Written written = write_record(*ring, event, RecordKind::mark, 0, 0);
  if (written.record == nullptr) [[unlikely]]
    return ring->count_drop();
  finish(*ring, event, RecordKind::mark, written, ticks);
}

}  // namespace lockstep::tracer::nvtx

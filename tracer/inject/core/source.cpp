#include "tracer/inject/core/source.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "tracer/inject/core/gate_word.h"
#include "tracer/inject/core/record_body.h"
#include "tracer/protocol/plan.h"
#include "tracer/protocol/source_table.h"

namespace lockstep::tracer {

void Source::consume(std::uint32_t, std::uint8_t, const std::byte*, std::uint32_t, trace::Nanoseconds) {}

void Source::range(std::uint32_t, const trace::HostRange&, std::span<const trace::Argument>) {}

void note_drops(trace::Writer& writer, std::string_view source, std::string_view reason, std::uint64_t count,
                trace::Nanoseconds begin, trace::Nanoseconds end) {
  if (count == 0) return;
  trace::Drop drop;
  drop.begin = std::min(begin, end);
  drop.end = end;
  drop.count = count;
  drop.source = writer.intern(source);
  drop.reason = writer.intern(reason);
  writer.append(drop);
}

void describe_source(trace::Writer& writer, std::string_view source, std::string_view state,
                     std::string_view problem) {
  const std::string key = "source." + std::string(source);
  writer.set_metadata(key, state);
  writer.set_metadata(key + ".problem", problem);
}

bool emit(SourceId source, std::uint8_t type, const void* body, std::uint32_t bytes) noexcept {
  return emit(source, type, body, bytes, nullptr, 0);
}

bool emit(SourceId source, std::uint8_t type, const void* body, std::uint32_t bytes, const void* more,
          std::uint32_t more_bytes) noexcept {
  if (!control::is_recording()) [[unlikely]]
    return false;
  return emit_always(source, type, body, bytes, more, more_bytes);
}

bool emit_always(SourceId source, std::uint8_t type, const void* body, std::uint32_t bytes, const void* more,
                 std::uint32_t more_bytes) noexcept {
  Tracer& tracer = Tracer::instance();
  const Section section;
  if (!section.entered()) [[unlikely]] {
    tracer.count_reentrant();
    return false;
  }
  Ring* const ring = tracer.ring();
  if (ring == nullptr) [[unlikely]]
    return false;
  const RecordBody parts{body, bytes, more, more_bytes};
  const std::uint32_t size = parts.record_bytes();
  std::byte* const record = ring->claim(size, 0);
  if (record == nullptr) [[unlikely]] {
    ring->count_drop();
    return false;
  }
  parts.copy_to(record);
  write_header(record, size, RecordKind::source, type, source, parts.bytes(), read_ticks(tracer.ticks()));
  ring->publish(size);
  return true;
}

bool is_wanted(std::string_view source) noexcept {
  const char* const list = std::getenv("LOCKSTEP_SOURCES");
  if (list != nullptr) return control::names_source(list, source);
  const SourceEntry* const entry = find_source(source);
  return entry != nullptr && entry->by_default;
}

}  // namespace lockstep::tracer

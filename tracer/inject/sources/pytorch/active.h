// Whether this process follows PyTorch now, and under which number its records go to the writer thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "tracer/inject/core/paired_records.h"
#include "tracer/inject/core/source.h"
#include "tracer/inject/sources/pytorch/records.h"

namespace lockstep::tracer::pytorch {

// kNoSource: nothing is recorded, as in a forked child that does not train by itself (a data loader's
// worker).
inline std::atomic<SourceId> active_source{Tracer::kNoSource};

inline bool is_active() noexcept {
  return active_source.load(std::memory_order_relaxed) != Tracer::kNoSource;
}

inline void note(RecordType type, const void* body, std::uint32_t bytes) noexcept {
  const SourceId source = active_source.load(std::memory_order_relaxed);
  if (source == Tracer::kNoSource) return;
  emit(source, static_cast<std::uint8_t>(type), body, bytes);
}
inline void note(RecordType type) noexcept {
  note(type, nullptr, 0);
}
template <typename Record>
void note(RecordType type, const Record& record) noexcept {
  note(type, &record, sizeof record);
}
template <typename Record>
void note(RecordType type, const Record& record, const void* more, std::uint32_t bytes) noexcept {
  const SourceId source = active_source.load(std::memory_order_relaxed);
  if (source == Tracer::kNoSource) return;
  emit(source, static_cast<std::uint8_t>(type), &record, sizeof record, more, bytes);
}

// What begins and ends on a thread: both are recorded or neither (core/paired_records.h).
template <typename Record>
bool note_begin(RecordType type, const Record& record, const void* more = nullptr,
                std::uint32_t bytes = 0) noexcept {
  const SourceId source = active_source.load(std::memory_order_relaxed);
  return emit_begin(source, static_cast<std::uint8_t>(type), &record, sizeof record, more, bytes);
}
template <typename Record>
void note_end(RecordType type, const Record& record) noexcept {
  static_assert(sizeof record <= kMaxEndBytes);
  const SourceId source = active_source.load(std::memory_order_relaxed);
  emit_end(source, static_cast<std::uint8_t>(type), &record, sizeof record);
}
inline void note_wait_begin() noexcept {
  const SourceId source = active_source.load(std::memory_order_relaxed);
  emit_begin(source, static_cast<std::uint8_t>(RecordType::wait_begin), nullptr, 0);
}
inline void note_wait_end() noexcept {
  const SourceId source = active_source.load(std::memory_order_relaxed);
  emit_end(source, static_cast<std::uint8_t>(RecordType::wait_end), nullptr, 0);
}

// Also where nothing is recorded now: what later records refer to.
template <typename Record>
void note_always(RecordType type, const Record& record) noexcept {
  const SourceId source = active_source.load(std::memory_order_relaxed);
  if (source == Tracer::kNoSource) return;
  emit_always(source, static_cast<std::uint8_t>(type), &record, sizeof record, nullptr, 0);
}

}  // namespace lockstep::tracer::pytorch

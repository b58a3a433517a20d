// Whether this process follows PyTorch now, and under which number its records go to the writer thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "tracer/sources/pytorch/records.h"
#include "tracer/sources/source.h"

namespace lockstep::tracer::pytorch {

// kNoSource: nothing is recorded, as in a forked child that does not train by itself (a data loader's
// worker).
inline std::atomic<SourceId> active_source{Recorder::kNoSource};

inline bool is_active() noexcept {
  return active_source.load(std::memory_order_relaxed) != Recorder::kNoSource;
}

inline void note(RecordType type, const void* body, std::uint32_t bytes) noexcept {
  const SourceId source = active_source.load(std::memory_order_relaxed);
  if (source == Recorder::kNoSource) return;
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
  if (source == Recorder::kNoSource) return;
  emit(source, static_cast<std::uint8_t>(type), &record, sizeof record, more, bytes);
}

// Also where nothing is recorded now: what later records refer to, and ends of what was begun.
template <typename Record>
void note_always(RecordType type, const Record& record) noexcept {
  const SourceId source = active_source.load(std::memory_order_relaxed);
  if (source == Recorder::kNoSource) return;
  emit_always(source, static_cast<std::uint8_t>(type), &record, sizeof record, nullptr, 0);
}

}  // namespace lockstep::tracer::pytorch

// Writing NVTX events into the calling thread's ring: the hot path.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracer/inject/core/tracer.h"
#include "tracer/inject/sources/nvtx/nvtx_api.h"

namespace lockstep::tracer::nvtx {

// What an event says, still in the program's memory.
struct Event {
  std::uint16_t domain = 0;
  std::uint8_t flags = 0;  // record_flags
  std::uint32_t message_bytes = 0;
  const void* message = nullptr;
  std::uint64_t handle = 0;  // of a registered message; `message` then points here
  Style style;
  const nvtxPayloadData_t* payloads = nullptr;
  std::size_t payload_count = 0;
};

// A range id whose start was dropped: its end is ignored.
inline constexpr nvtxRangeId_t kDroppedRange = std::uint64_t{1} << 63U;

// The number behind a domain's handle; beyond Ring::kMaxDomains for handles that aren't ours.
inline std::uint64_t domain_number(nvtxDomainHandle_t handle) noexcept {
  return reinterpret_cast<std::uintptr_t>(handle);
}

void describe(Event& event, const char* message) noexcept;
void describe(Event& event, const wchar_t* message) noexcept;
void describe(Event& event, const nvtxEventAttributes_t* attributes) noexcept;
void describe(Event& event, const nvtxPayloadData_t* payloads, std::size_t count) noexcept;

// Return the level of the range, from 0, or NVTX_NO_PUSH_POP_TRACKING where there is no ring.
int push(Event& event) noexcept;
int push_text(const char* message) noexcept;  // the default domain; the most frequent call
int pop(std::uint64_t domain, const nvtxPayloadData_t* payloads, std::size_t count) noexcept;
nvtxRangeId_t start(Event& event) noexcept;
void end(nvtxRangeId_t id, std::uint64_t domain, const nvtxPayloadData_t* payloads,
         std::size_t count) noexcept;
void mark(Event& event) noexcept;

}  // namespace lockstep::tracer::nvtx

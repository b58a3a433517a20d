#include "tracer/inject/sources/cupti/activity_names.h"

#include <array>
#include <cstddef>

namespace lockstep::tracer::cupti {

namespace {

template <std::size_t Size>
const char* at(const std::array<const char*, Size>& names, std::size_t index) {
  return index < Size ? names[index] : names[0];
}

constexpr std::array<const char*, 11> kCopies{"",      " HtoD", " DtoH", " HtoA", " AtoH", " AtoA",
                                              " AtoD", " DtoA", " DtoD", " HtoH", " PtoP"};
constexpr std::array<const char*, 8> kMemories{"Unknown", "Pageable", "Pinned",        "Device",
                                               "Array",   "Managed",  "Device Static", "Managed Static"};

}  // namespace

std::string copy_name(std::uint8_t kind, std::uint8_t from, std::uint8_t to) {
  return std::string("Memcpy") + at(kCopies, kind) + " (" + at(kMemories, from) + " -> " + at(kMemories, to) +
         ")";
}

std::string peer_copy_name(std::uint32_t from_device, std::uint32_t to_device) {
  return "Memcpy PtoP (GPU " + std::to_string(from_device) + " -> GPU " + std::to_string(to_device) + ")";
}

std::string fill_name(std::uint16_t memory) {
  return std::string("Memset (") + at(kMemories, memory) + ")";
}

std::string synchronization_name(CUpti_ActivitySynchronizationType type, std::uint32_t stream,
                                 std::uint32_t source) {
  const auto name_of = [](std::uint32_t id) { return "stream " + std::to_string(id); };
  const bool stream_known = stream != CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  const bool source_known = source != CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  switch (type) {
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE:
      return source_known ? "Event Synchronize (" + name_of(source) + ")" : "Event Synchronize";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT:
      if (!stream_known || !source_known) return "Stream Wait Event";
      return "Stream Wait Event (" + name_of(stream) + " waits for " + name_of(source) + ")";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE:
      return stream_known ? "Stream Synchronize (" + name_of(stream) + ")" : "Stream Synchronize";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE:
      return "Context Synchronize";
    default:
      return "Synchronize";
  }
}

std::string overhead_name(CUpti_ActivityOverheadKind kind) {
  // By number: older headers lack the later ones.
  switch (static_cast<std::uint32_t>(kind)) {
    case 1:
      return "driver compiler";
    case 1U << 16U:
      return "CUPTI buffer flush";
    case 2U << 16U:
      return "CUPTI instrumentation";
    case 3U << 16U:
      return "CUPTI resource";
    case 4U << 16U:
      return "module loading";
    case 5U << 16U:
      return "lazy function loading";
    case 6U << 16U:
      return "command buffer full";
    case 7U << 16U:
      return "CUPTI buffer request";
    default:
      return "CUPTI overhead";
  }
}

}  // namespace lockstep::tracer::cupti

// What copies, fills, waits and CUPTI's overhead are called: as PyTorch's profiler and Nsight Systems do,
// where they have names for them.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <string>

namespace lockstep::tracer::cupti {

std::string copy_name(std::uint8_t kind, std::uint8_t from,
                      std::uint8_t to);  // "Memcpy HtoD (Pageable -> Device)"
std::string peer_copy_name(std::uint32_t from_device,
                           std::uint32_t to_device);  // "Memcpy PtoP (GPU 0 -> GPU 1)"
std::string fill_name(std::uint16_t memory);          // "Memset (Device)"
// "Stream Synchronize (stream 7)"; "Stream Wait Event (stream 7 waits for stream 20)". `source` is the stream
// that the event was recorded on; CUPTI_SYNCHRONIZATION_INVALID_VALUE where a stream is not known.
std::string synchronization_name(CUpti_ActivitySynchronizationType type, std::uint32_t stream,
                                 std::uint32_t source);
std::string overhead_name(CUpti_ActivityOverheadKind kind);  // "CUPTI buffer flush"

}  // namespace lockstep::tracer::cupti

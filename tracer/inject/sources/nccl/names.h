// What NCCL's names and numbers mean in the trace's terms. Cheap: some are read on the application's threads.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/events/event.h"

namespace lockstep::tracer::nccl {

// "AllReduce", "SendRecv"; "" and what is not known: unknown. nullptr is allowed, as libnccl may pass it.
trace::Operation operation_of(const char* function) noexcept;
trace::Operation operation_of(std::uint8_t function_number) noexcept;  // of ncclFunc_t in NCCL 2.23
// "ncclFloat32".
trace::DataType data_type_of(const char* name) noexcept;
trace::DataType data_type_of(std::uint8_t number) noexcept;  // of ncclDataType_t

// A small number for an algorithm or protocol, to travel through a ring; 0 for what is not known.
std::uint8_t algorithm_of(const char* name) noexcept;  // "RING"
std::uint8_t algorithm_of(std::uint8_t number) noexcept;
std::uint8_t protocol_of(const char* name) noexcept;  // "LL128"
std::uint8_t protocol_of(std::uint8_t number) noexcept;
inline constexpr std::uint8_t kCopyEngine = 255;  // as an algorithm
// The name behind such a number; empty for 0.
std::string_view algorithm_name(std::uint8_t algorithm) noexcept;
std::string_view protocol_name(std::uint8_t protocol) noexcept;

// "ncclAllReduce", as libnccl's own NVTX ranges are called; "nccl operation" for unknown.
std::string_view call_name(trace::Operation operation) noexcept;
// The operation of an NVTX range of libnccl; unknown for ranges that are none.
trace::Operation operation_of_call(std::string_view range_name) noexcept;

// Whether NCCL's counts of this operation are of one rank's part, and the larger side is that many times
// larger as the communicator has ranks.
bool counts_one_part(trace::Operation operation) noexcept;
// The larger side in bytes, as nccl-tests counts; 0 where the number of ranks is needed and not known, or the
// product does not fit.
std::uint64_t larger_side(trace::Operation operation, std::uint64_t bytes, std::int32_t ranks) noexcept;

}  // namespace lockstep::tracer::nccl

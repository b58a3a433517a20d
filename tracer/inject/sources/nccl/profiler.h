// The profiler plugin behind all versions of its tables: makes handles, puts records into the rings.
//
// A handle is a number in the shape of a pointer that says all that a later event needs: nothing is
// allocated, looked up or freed, and a handle that is stopped twice, or after its communicator is gone, or in
// a forked child, does no harm. The same holds for a communicator's context.
#pragma once

#include <cstdint>

#include "tracer/inject/core/tracer.h"
#include "tracer/inject/sources/nccl/records.h"

namespace lockstep::tracer::nccl {

// What a handle stands for. 0 is no handle.
enum class HandleKind : std::uint8_t {
  none = 0,
  batch,
  operation,
  group_call,  // also of the single calls in it: they share the group's number
  launch,
  network,
};

struct Handle {
  HandleKind kind = HandleKind::none;
  bool captured = false;                                 // of calls: into a CUDA graph
  trace::DataType data_type = trace::DataType::unknown;  // of calls
  std::uint64_t number = 0;                              // unique in the process, for its kind

  static Handle of(const void* pointer) noexcept;
  void* pointer() const noexcept;
};

struct CommunicatorInfo {
  const char* name = nullptr;  // may be null
  std::uint64_t hash = 0;
  std::int32_t ranks = 0;
  std::int32_t rank = trace::kNoRank;
  std::uint32_t version = 0;  // of the table
};

// A new communicator. Says which events are wanted: none if nothing is recorded.
void begin_communicator(void** context, std::int32_t* mask, const CommunicatorInfo& info) noexcept;
void end_communicator(void* context) noexcept;

// The events of one version of the table, whichever it is. Each returns what `*handle` is to be.
void* begin_batch() noexcept;
void* begin_call(const void* parent, bool captured, trace::DataType data_type) noexcept;
void* begin_launch(void* context, const void* parent) noexcept;
// `call` and `batch` are handles, or nullptr.
void* begin_operation(void* context, OperationRecord record, const void* batch, const void* call,
                      const char* function) noexcept;
void* begin_network(NetworkBeginRecord record, const void* parent) noexcept;

void change_state(void* handle, std::int32_t state, std::uint64_t bytes) noexcept;
void stop(void* handle) noexcept;

// The number of a communicator's context; 0 for none.
std::uint32_t context_number(const void* context) noexcept;

}  // namespace lockstep::tracer::nccl

// The tables that libnccl looks up by name, newest first. Each turns the events of its version into the
// common ones (profiler.h). Nothing fails: libnccl would give up profiling, or worse, the job.
#include "tracer/inject/sources/nccl/tables.h"

#include <type_traits>

#include "tracer/inject/sources/nccl/names.h"
#include "tracer/inject/sources/nccl/profiler.h"

namespace lockstep::tracer::nccl {

namespace {

using abi::Status;

Status init_v1(void** context, std::int32_t* mask) noexcept {
  begin_communicator(context, mask, {nullptr, 0, 0, trace::kNoRank, 1});
  return abi::kSuccess;
}

Status init_v4(void** context, std::int32_t* mask, const char* name, std::uint64_t hash, std::int32_t,
               std::int32_t ranks, std::int32_t rank, void*) noexcept {
  begin_communicator(context, mask, {name, hash, ranks, rank, 4});
  return abi::kSuccess;
}

Status init_v5(void** context, std::uint64_t hash, std::int32_t* mask, const char* name, std::int32_t,
               std::int32_t ranks, std::int32_t rank, void*) noexcept {
  begin_communicator(context, mask, {name, hash, ranks, rank, 5});
  return abi::kSuccess;
}

template <class Event>
inline constexpr bool knows_calls = requires(Event event) {
  event.details.group_call;
};

// What collectives and point-to-point operations of all versions say alike.
template <class Event, class Details>
void* begin_any(void* context, const Event& event, const Details& details, OperationRecord record) noexcept {
  record.rank = event.rank;
  record.count = details.count;
  record.operation = operation_of(details.function);
  record.data_type = data_type_of(details.data_type);
  const char* function = nullptr;
  if constexpr (std::is_pointer_v<decltype(details.function)>) function = details.function;
  if constexpr (requires { details.communicator_hash; }) record.hash = details.communicator_hash;
  if constexpr (requires { details.channels; }) record.channels = details.channels;
  if constexpr (requires { details.group; }) {
    return begin_operation(context, record, details.group, event.parent, function);
  } else {
    return begin_operation(context, record, event.parent, nullptr, function);
  }
}

template <class Event>
void* begin_collective(void* context, const Event& event) noexcept {
  const auto& details = event.details.collective;
  OperationRecord record;
  record.sequence = details.sequence;
  record.peer = details.root;
  record.algorithm = algorithm_of(details.algorithm);
  record.protocol = protocol_of(details.protocol);
  return begin_any(context, event, details, record);
}

template <class Event>
void* begin_point_to_point(void* context, const Event& event) noexcept {
  OperationRecord record;
  record.peer = event.details.point_to_point.peer;
  record.flags = operation_flags::kPointToPoint;
  return begin_any(context, event, event.details.point_to_point, record);
}

template <class Event>
void* begin_copy_engine_collective(void* context, const Event& event) noexcept {
  const abi::CopyEngineCollective& details = event.details.copy_engine_collective;
  OperationRecord record;
  record.sequence = details.sequence;
  record.count = details.count;
  record.peer = details.root;
  record.rank = event.rank;
  record.operation = operation_of(details.function);
  record.data_type = data_type_of(details.data_type);
  record.algorithm = kCopyEngine;
  record.flags = operation_flags::kCopyEngine;
  return begin_operation(context, record, nullptr, event.parent, details.function);
}

template <class Event>
void* begin_proxy_operation(const Event& event) noexcept {
  const abi::ProxyOperation& details = event.details.proxy_operation;
  NetworkBeginRecord record;
  record.kind = NetworkKind::operation;
  record.peer = details.peer;
  record.steps = details.steps;
  record.chunk_bytes = details.chunk_bytes;
  record.process = details.process;
  record.channel = details.channel;
  record.is_send = details.is_send != 0;
  return begin_network(record, event.parent);
}

template <class Event>
void* begin_event(void* context, const Event& event) noexcept {
  switch (static_cast<std::uint64_t>(event.type)) {
    case abi::kGroup:
      return begin_batch();
    case abi::kCollective:
      return begin_collective(context, event);
    case abi::kPointToPoint:
      return begin_point_to_point(context, event);
    case abi::kProxyOperation:
      return begin_proxy_operation(event);
    case abi::kProxyStep: {
      NetworkBeginRecord record;
      record.kind = NetworkKind::step;
      record.number = event.details.proxy_step.step;
      return begin_network(record, event.parent);
    }
    default:
      break;
  }
  if constexpr (requires { event.details.network; }) {
    if (event.type == abi::kNetwork) {
      NetworkBeginRecord record;
      record.kind = NetworkKind::transport;
      record.number = event.details.network.id;
      return begin_network(record, event.parent);
    }
  }
  if constexpr (knows_calls<Event>) {
    switch (event.type) {
      case abi::kGroupCall:
        return begin_call(nullptr, event.details.group_call.captured, {});
      case abi::kCollectiveCall:
        return begin_call(event.parent, event.details.collective_call.captured,
                          data_type_of(event.details.collective_call.data_type));
      case abi::kPointToPointCall:
        return begin_call(event.parent, event.details.point_to_point_call.captured,
                          data_type_of(event.details.point_to_point_call.data_type));
      case abi::kKernelLaunch:
        return begin_launch(context, event.parent);
      default:
        break;
    }
  }
  if constexpr (requires { event.details.copy_engine_collective; }) {
    if (event.type == abi::kCopyEngineCollective) return begin_copy_engine_collective(context, event);
  }
  return nullptr;
}

template <class Event>
Status start_event(void* context, void** handle, Event* event) noexcept {
  if (handle == nullptr) return abi::kSuccess;
  *handle = nullptr;
  if (event != nullptr && context_number(context) != 0) *handle = begin_event(context, *event);
  return abi::kSuccess;
}

Status stop_event(void* handle) noexcept {
  stop(handle);
  return abi::kSuccess;
}

template <class State>
Status record_event_state(void* handle, std::int32_t state, State* arguments) noexcept {
  std::uint64_t bytes = 0;
  if (arguments != nullptr) {
    if constexpr (std::is_same_v<State, abi::StateV1>) {
      bytes = arguments->proxy_operation.bytes;
    } else {
      bytes = arguments->step_bytes;
    }
  }
  change_state(handle, state, bytes);
  return abi::kSuccess;
}

Status finalize(void* context) noexcept {
  end_communicator(context);
  return abi::kSuccess;
}

}  // namespace

}  // namespace lockstep::tracer::nccl

using namespace lockstep::tracer;        // NOLINT(google-build-using-namespace): for the tables below
using namespace lockstep::tracer::nccl;  // NOLINT(google-build-using-namespace)

extern "C" {
nccl::abi::TableV1 ncclProfiler_v1 = {"Lockstep",         init_v1, start_event, stop_event,
                                      record_event_state, finalize};
nccl::abi::TableV2 ncclProfiler_v2 = {"Lockstep",         init_v1, start_event, stop_event,
                                      record_event_state, finalize};
nccl::abi::TableV3 ncclProfiler_v3 = {"Lockstep",         init_v1, start_event, stop_event,
                                      record_event_state, finalize};
nccl::abi::TableV4 ncclProfiler_v4 = {"Lockstep",         init_v4, start_event, stop_event,
                                      record_event_state, finalize};
nccl::abi::TableV5 ncclProfiler_v5 = {"Lockstep",         init_v5, start_event, stop_event,
                                      record_event_state, finalize};
nccl::abi::TableV6 ncclProfiler_v6 = {"Lockstep",         init_v5, start_event, stop_event,
                                      record_event_state, finalize};
}

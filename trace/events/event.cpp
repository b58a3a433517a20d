#include "trace/events/event.h"

namespace lockstep::trace {

const char* to_string(EventKind kind) {
  switch (kind) {
    case EventKind::host_range:
      return "host_range";
    case EventKind::open_range:
      return "open_range";
    case EventKind::mark:
      return "mark";
    case EventKind::counter:
      return "counter";
    case EventKind::device_activity:
      return "device_activity";
    case EventKind::api_call:
      return "api_call";
    case EventKind::collective:
      return "collective";
    case EventKind::step:
      return "step";
    case EventKind::clock_snapshot:
      return "clock_snapshot";
    case EventKind::drop:
      return "drop";
    case EventKind::collective_issue:
      return "collective_issue";
  }
  return "unknown";
}

const char* to_string(LaneKind kind) {
  switch (kind) {
    case LaneKind::host_thread:
      return "host_thread";
    case LaneKind::device_stream:
      return "device_stream";
    case LaneKind::compute_thread:
      return "compute_thread";
    case LaneKind::communication:
      return "communication";
    case LaneKind::counter:
      return "counter";
  }
  return "unknown";
}

const char* to_string(ActivityClass activity_class) {
  switch (activity_class) {
    case ActivityClass::compute:
      return "compute";
    case ActivityClass::collective:
      return "collective";
    case ActivityClass::p2p:
      return "p2p";
    case ActivityClass::copy:
      return "copy";
    case ActivityClass::sync:
      return "sync";
  }
  return "unknown";
}

const char* to_string(Operation operation) {
  switch (operation) {
    case Operation::unknown:
      return "unknown";
    case Operation::all_reduce:
      return "all_reduce";
    case Operation::all_gather:
      return "all_gather";
    case Operation::reduce_scatter:
      return "reduce_scatter";
    case Operation::all_to_all:
      return "all_to_all";
    case Operation::broadcast:
      return "broadcast";
    case Operation::reduce:
      return "reduce";
    case Operation::gather:
      return "gather";
    case Operation::scatter:
      return "scatter";
    case Operation::barrier:
      return "barrier";
    case Operation::send:
      return "send";
    case Operation::recv:
      return "recv";
    case Operation::send_recv:
      return "send_recv";
  }
  return "unknown";
}

const char* to_string(DataType type) {
  switch (type) {
    case DataType::unknown:
      return "unknown";
    case DataType::int8:
      return "int8";
    case DataType::uint8:
      return "uint8";
    case DataType::int32:
      return "int32";
    case DataType::uint32:
      return "uint32";
    case DataType::int64:
      return "int64";
    case DataType::uint64:
      return "uint64";
    case DataType::float16:
      return "float16";
    case DataType::bfloat16:
      return "bfloat16";
    case DataType::float32:
      return "float32";
    case DataType::float64:
      return "float64";
    case DataType::float8_e4m3:
      return "float8_e4m3";
    case DataType::float8_e5m2:
      return "float8_e5m2";
  }
  return "unknown";
}

const char* to_string(Pass pass) {
  switch (pass) {
    case Pass::other:
      return "other";
    case Pass::forward:
      return "forward";
    case Pass::backward:
      return "backward";
    case Pass::recompute:
      return "recompute";
    case Pass::optimizer:
      return "optimizer";
  }
  return "other";
}

std::uint32_t size_in_bytes(DataType type) {
  switch (type) {
    case DataType::int8:
    case DataType::uint8:
    case DataType::float8_e4m3:
    case DataType::float8_e5m2:
      return 1;
    case DataType::float16:
    case DataType::bfloat16:
      return 2;
    case DataType::int32:
    case DataType::uint32:
    case DataType::float32:
      return 4;
    case DataType::int64:
    case DataType::uint64:
    case DataType::float64:
      return 8;
    case DataType::unknown:
      break;
  }
  return 0;
}

}  // namespace lockstep::trace

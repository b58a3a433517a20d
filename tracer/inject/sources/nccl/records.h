// What the callbacks of the profiler plugin put into the ring of their thread, for the writer thread. The
// time is the record's own.
#pragma once

#include <cstdint>

#include "trace/events/event.h"

namespace lockstep::tracer::nccl {

enum class RecordType : std::uint8_t {
  communicator = 1,
  communicator_end,
  operation,
  batch_end,
  launch,
  launch_end,
  network_begin,
  network_state,
  network_end,
};

// A communicator was made. Followed by its name, if it has one.
struct CommunicatorRecord {
  std::uint64_t hash = 0;  // the same on all its ranks
  std::uint32_t context = 0;
  std::int32_t rank = trace::kNoRank;
  std::int32_t ranks = 0;  // 0: not told
  std::uint32_t version = 0;
};

struct CommunicatorEndRecord {
  std::uint64_t context = 0;
};

namespace operation_flags {
inline constexpr std::uint8_t kPointToPoint = 1;
inline constexpr std::uint8_t kCaptured = 2;    // into a CUDA graph: it runs when the graph does
inline constexpr std::uint8_t kCopyEngine = 4;  // no kernel
}  // namespace operation_flags

// An operation is handed over. Followed by the function's name if that says no operation that we know.
struct OperationRecord {
  std::uint64_t batch = 0;     // of operations that one kernel carries out
  std::uint64_t call = 0;      // the outermost group of calls that it was issued in; 0: not told (before v5)
  std::uint64_t hash = 0;      // of the communicator, where the event says it (before v4)
  std::uint64_t sequence = 0;  // counts the operations of this function and communicator
  std::uint64_t count = 0;     // elements
  std::uint32_t context = 0;
  std::int32_t peer = trace::kNoRank;
  std::int32_t rank = trace::kNoRank;
  trace::Operation operation = trace::Operation::unknown;
  trace::DataType data_type = trace::DataType::unknown;         // of `count`
  trace::DataType called_data_type = trace::DataType::unknown;  // as the program called it
  std::uint8_t algorithm = 0;
  std::uint8_t protocol = 0;
  std::uint8_t channels = 0;
  std::uint8_t flags = 0;
};

// All operations of a batch have been told.
struct BatchEndRecord {
  std::uint64_t batch = 0;
};

// The launch of one kernel begins, on this thread.
struct LaunchRecord {
  std::uint64_t launch = 0;
  std::uint64_t call = 0;
  std::uint64_t context = 0;
};
struct LaunchEndRecord {
  std::uint64_t launch = 0;
};

// What the network's helper threads do, if it was asked for.
enum class NetworkKind : std::uint8_t { operation = 1, step, transport };
struct NetworkBeginRecord {
  std::uint64_t handle = 0;
  std::uint64_t parent = 0;
  std::int64_t number = 0;  // of the step; of the transport's event
  std::int32_t peer = trace::kNoRank;
  std::int32_t steps = 0;
  std::int32_t chunk_bytes = 0;
  std::int32_t process = 0;
  std::uint8_t channel = 0;
  NetworkKind kind = NetworkKind::operation;
  bool is_send = false;
};
struct NetworkStateRecord {
  std::uint64_t handle = 0;
  std::uint64_t bytes = 0;
  std::int32_t state = 0;
};
struct NetworkEndRecord {
  std::uint64_t handle = 0;
};

}  // namespace lockstep::tracer::nccl

// What the hooks in a PyTorch process put into the rings of threads, and the writer thread takes out again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "trace/events/event.h"

namespace lockstep::tracer::pytorch {

enum class RecordType : std::uint8_t {
  group = 1,     // GroupRecord and texts
  call,          // CallRecord: a collective or message was handed to its process group
  enqueue,       // WorkRecord: and put its work into the queue of the group's threads
  work_begin,    // WorkRecord, on the thread that carries it out
  work_end,      // WorkRecord; the first of several counts
  message_end,   // WorkRecord: a send, a receive or a collective of Ends::waited was waited for, and is over
  wait_begin,    // WorkRecord, or nothing: the thread begins to wait for communication, of that work
  wait_end,      // as wait_begin: the wait returned, and that work is over
  range_begin,   // RangeRecord and the range's name
  range_end,     // RangeRecord
  phase_begin,   // PhaseRecord
  phase_end,     // PhaseEndRecord
  device,        // DeviceRecord
  step,          // StepRecord: a step begins
  message_done,  // WorkRecord: the call is the message that has been carried out, waited for or not
  past_range,    // PastRangeRecord and the range's name
  module_begin,  // ModuleRecord and the module's name
  module_end,    // ModuleRecord
  operator_begin,  // OperatorRecord and the operator's name
  operator_end,    // OperatorRecord
  python_place,    // PastRangeRecord and where the main thread was
  long_begin,      // PastRangeRecord, whose end says nothing yet, and the range's name
  long_end,        // PastRangeRecord: that one is over; where it is empty, it was too short to be kept
  work_finished,   // WorkRecord: its group's thread has carried it out (Ends::finished)
};

// A process group's backend. Followed by its name, its description and its ranks: `run_count` RankRuns.
struct GroupRecord {
  std::uint64_t backend = 0;  // address of the C++ object; other records refer to it
  std::uint32_t size = 0;     // ranks
  std::uint16_t name_bytes = 0;
  std::uint16_t description_bytes = 0;
  std::uint32_t run_count = 0;  // 0 where the ranks are too irregular to be told
  std::uint32_t unused = 0;
};

// `count` ranks: first, first + stride, first + 2 · stride, …
struct RankRun {
  std::int32_t first = 0;
  std::int32_t stride = 0;
  std::int32_t count = 0;
};

// Who tells when an operation is over.
enum class Ends : std::uint8_t {
  queued,     // the threads of its group, which take works from a queue: work_begin, work_end (Gloo)
  on_device,  // the kernel that carries it out, which is not ours to see (NCCL, XCCL)
  finished,   // the one thread of its group, which carries out one work after the other: work_finished (MPI)
  waited,     // whoever waits for it: message_end or wait_end (UCC; messages)
};

// Written when the call returns.
struct CallRecord {
  std::uint64_t call = 0;         // number of the call in its process, from 1
  std::uint64_t backend = 0;      // of the group
  std::uint64_t begin_ticks = 0;  // when the call began; the record's own time is its end
  std::int64_t sequence = 0;      // of the group, from 0; messages count apart from collectives
  std::uint64_t bytes = 0;        // larger side; trace::kUnknownBytes where it can't be told
  std::uint64_t work = 0;         // where its end is told of the work's address: that; else 0
  std::int32_t peer = -1;         // rank in the group: root, or other side of a message
  std::uint32_t works = 0;        // how many were enqueued
  trace::Operation operation = trace::Operation::unknown;
  trace::DataType data_type = trace::DataType::unknown;
  Ends ends = Ends::queued;
  std::uint8_t unused[5] = {};
};

struct WorkRecord {
  std::uint64_t work = 0;  // address; used again once it is over
  std::uint64_t call = 0;  // of enqueue: the call that it is part of; 0: of none that is known
};

inline constexpr std::uint64_t kOwnRange = 1;  // of the hook; PyTorch's are addresses
struct RangeRecord {
  std::uint64_t range = 0;              // tells it from other ranges that are open on the thread
  std::uint64_t without_gradients = 0;  // 1: of a forward pass that makes no graph of autograd
};

// Nodes of autograd are numbered per thread in the order in which the forward pass makes them: the numbers of
// the first that a module's call makes, and of the first that it does not.
struct ModuleRecord {
  std::uint64_t node = 0;
};

inline constexpr std::uint64_t kNoNode = UINT64_MAX;
struct OperatorRecord {
  std::uint64_t node = kNoNode;  // that is carried out; kNoNode where it is none, or not known
  std::uint64_t is_node = 0;
};

enum class Phase : std::uint8_t { data = 1, forward, backward, optimizer };

struct PhaseRecord {
  std::uint64_t identity = 0;  // of optimizer: which one; else the microbatch from 1, 0 for none
  std::int64_t ran = -1;       // of optimizer: how long the thread has run on a core, ever, ns; else -1
  Phase phase = Phase::data;
  std::uint8_t unused[7] = {};
};

struct PhaseEndRecord {
  std::int64_t ran = -1;  // the same, of backward
  Phase phase = Phase::data;
  std::uint8_t unused[7] = {};
};

struct StepRecord {
  std::int64_t number = 0;
};

// A range that is told once it is over, or of which only then is known what it was.
struct PastRangeRecord {
  std::int64_t begin = 0;  // CLOCK_MONOTONIC, ns
  std::int64_t end = 0;
};

struct DeviceRecord {
  std::uint64_t cpu = 0;  // 1: the model computes on the CPU, in the threads that we see
};

// A record as it came out of the ring; what is missing of it is as in a new one.
template <typename Record>
Record read_record(const std::byte* body, std::uint32_t bytes) {
  Record record;
  std::memcpy(&record, body, std::min<std::size_t>(bytes, sizeof record));
  return record;
}

}  // namespace lockstep::tracer::pytorch

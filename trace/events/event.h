// The event model: what every source records, every importer produces and every consumer reads.
//
// Times are signed 64-bit nanoseconds of one clock per file (CLOCK_MONOTONIC of the host for recorded runs).
// Events refer to strings, lanes and groups by small integers that are valid within one file. Structs are
// plain data; the container (docs/trace-format.md) stores each of their fields as one column.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace lockstep::trace {

using Nanoseconds = std::int64_t;
inline constexpr Nanoseconds kUnknownTime = std::numeric_limits<Nanoseconds>::min();

// Index into the file's string table. 0 is the empty string.
using StringId = std::uint32_t;
// Index into the file's table of lanes.
using LaneId = std::uint32_t;
// Index into the file's table of groups; kNoGroup where the group is not known.
using GroupId = std::uint32_t;
inline constexpr GroupId kNoGroup = std::numeric_limits<GroupId>::max();
inline constexpr std::int64_t kNoSequence = -1;
inline constexpr std::int32_t kNoRank = -1;
// Correlation ids join the call that launches work to the device activity that does it. 0 is "none".
using CorrelationId = std::uint64_t;
inline constexpr CorrelationId kNoCorrelation = 0;

// What kind of column block a chunk holds. The values stand in files: never renumber, only append.
enum class EventKind : std::uint8_t {
  host_range = 1,
  open_range = 2,
  mark = 3,
  counter = 4,
  device_activity = 5,
  api_call = 6,
  collective = 7,
  step = 8,
  clock_snapshot = 9,
  drop = 10,
  collective_issue = 11,
};

// A lane runs one thing at a time.
enum class LaneKind : std::uint8_t {
  host_thread = 1,     // an operating-system thread: host ranges, marks, API calls
  device_stream = 2,   // a GPU stream
  compute_thread = 3,  // a CPU thread seen as the device that computes (training on the CPU)
  communication = 4,   // what runs collectives: a Gloo worker thread, a NCCL stream
  counter = 5,         // one plotted quantity
};

struct Lane {
  LaneKind kind = LaneKind::host_thread;
  std::uint64_t process = 0;  // operating-system process id
  std::uint64_t handle = 0;   // thread id, or stream id
  std::uint32_t device = 0;   // device ordinal, for device_stream
  std::string name = {};      // what people read

  bool operator==(const Lane&) const = default;
};

// A process group, or communicator. Ranks are global. A library that knows a group's ranks only as its own
// numbers from 0 on (NCCL) leaves `ranks` empty and says who it is itself: what the files of all ranks say
// together is the list.
struct Group {
  std::string name = {};  // its identity across ranks
  std::string description = {};
  std::vector<std::int32_t> ranks = {};
  std::int32_t own_rank = kNoRank;  // this process's rank within the group; kNoRank where not known
  std::int32_t size = 0;            // how many ranks it has; 0 where not known

  bool operator==(const Group&) const = default;
};

enum class ActivityClass : std::uint8_t { compute = 1, collective = 2, p2p = 3, copy = 4, sync = 5 };

enum class Operation : std::uint8_t {
  unknown = 0,
  all_reduce = 1,
  all_gather = 2,
  reduce_scatter = 3,
  all_to_all = 4,
  broadcast = 5,
  reduce = 6,
  gather = 7,
  scatter = 8,
  barrier = 9,
  send = 10,
  recv = 11,
  send_recv = 12,
};

// What part of a training step a computation belongs to; `other` where its source does not say.
enum class Pass : std::uint8_t { other = 0, forward = 1, backward = 2, recompute = 3, optimizer = 4 };

// Numeric type of a collective's elements.
enum class DataType : std::uint8_t {
  unknown = 0,
  int8 = 1,
  uint8 = 2,
  int32 = 3,
  uint32 = 4,
  int64 = 5,
  uint64 = 6,
  float16 = 7,
  bfloat16 = 8,
  float32 = 9,
  float64 = 10,
  float8_e4m3 = 11,
  float8_e5m2 = 12,
};

const char* to_string(EventKind kind);
const char* to_string(LaneKind kind);
const char* to_string(ActivityClass activity_class);
const char* to_string(Operation operation);  // "all_reduce"
const char* to_string(DataType type);        // "float32"
const char* to_string(Pass pass);            // "forward"
std::uint32_t size_in_bytes(DataType type);  // 0 for unknown

// A typed value carried by a range or a mark (an NVTX payload's field). Several arguments with one key, in
// order, are the elements of an array.
enum class ArgumentType : std::uint8_t { int64 = 1, uint64 = 2, float64 = 3, string = 4, address = 5 };
struct Argument {
  StringId key = 0;
  ArgumentType type = ArgumentType::int64;
  std::uint64_t bits = 0;  // the value's bit pattern; a StringId for strings

  bool operator==(const Argument&) const = default;
};

// A closed range on a host thread. Ranges of one lane nest; `depth` 0 is the outermost. A start/end range may
// end on another thread (`end_lane`) and has no depth of its own: `nested` is false, it may overlap anything.
struct HostRange {
  LaneId lane = 0;
  LaneId end_lane = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  StringId name = 0;
  StringId domain = 0;
  StringId category = 0;
  std::uint32_t color = 0;  // 0xAARRGGBB; 0 is "none"
  std::uint16_t depth = 0;
  bool nested = true;

  bool operator==(const HostRange&) const = default;
};

// A range that had not ended when its chunk was written. If it ends later, a HostRange with the same lane and
// begin follows, and the reader shows only that; if it never does (the process was killed), the reader shows
// it as running to the end of the file.
struct OpenRange {
  LaneId lane = 0;
  Nanoseconds begin = 0;
  StringId name = 0;
  StringId domain = 0;
  StringId category = 0;
  std::uint32_t color = 0;
  std::uint16_t depth = 0;
  bool nested = true;

  bool operator==(const OpenRange&) const = default;
};

struct Mark {
  LaneId lane = 0;
  Nanoseconds time = 0;
  StringId name = 0;
  StringId domain = 0;
  StringId category = 0;
  std::uint32_t color = 0;

  bool operator==(const Mark&) const = default;
};

struct Counter {
  LaneId lane = 0;  // LaneKind::counter
  Nanoseconds time = 0;
  double value = 0;

  bool operator==(const Counter&) const = default;
};

// Work on a device lane, collectives apart.
struct DeviceActivity {
  LaneId lane = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  StringId name = 0;
  ActivityClass activity_class = ActivityClass::compute;
  CorrelationId correlation = kNoCorrelation;
  std::uint64_t bytes = 0;  // copies only
  // Of computations, where their source says it.
  std::int32_t layer = -1;       // of the model, from 0; -1: none, or not known
  std::int32_t microbatch = -1;  // of the step, from 0; -1: none, or not known
  Pass pass = Pass::other;
  // Kernels only: trace/events/launch_shape.h; 0 where not known.
  std::uint32_t shape = 0;
  std::uint32_t warps = 0;

  bool operator==(const DeviceActivity&) const = default;
};

// A call on a host thread that launches device work (or waits for it).
struct ApiCall {
  LaneId lane = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  StringId name = 0;
  CorrelationId correlation = kNoCorrelation;

  bool operator==(const ApiCall&) const = default;
};

inline constexpr std::uint64_t kUnknownBytes = UINT64_MAX;  // Collective::bytes

// One rank's part in a collective or point-to-point operation: its true interval on the communication lane.
struct Collective {
  LaneId lane = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  StringId name = 0;
  GroupId group = kNoGroup;
  Operation operation = Operation::unknown;
  // Counts the operations of a group, from 0 or 1, equal on all its ranks. kNoSequence where not known.
  std::int64_t sequence = kNoSequence;
  // Size as nccl-tests defines it: the larger side (all_gather, reduce_scatter, …: count · size · n).
  // kUnknownBytes where nobody can tell.
  std::uint64_t bytes = 0;
  DataType data_type = DataType::unknown;
  std::int32_t peer = kNoRank;  // global rank of the root, or the other side of a send or receive
  CorrelationId correlation = kNoCorrelation;

  bool operator==(const Collective&) const = default;
};

// What a host thread says of an operation that the GPU will run: which one it is, and when it was handed
// over. It has no true interval of its own; [begin, end] is when the thread launched it, and holds the
// launching call where that was recorded.
struct CollectiveIssue {
  LaneId lane = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  StringId name = 0;
  GroupId group = kNoGroup;
  Operation operation = Operation::unknown;
  // Counts the operations of this kind in this group, equal on all its ranks. kNoSequence where not known,
  // and of sends and receives.
  std::int64_t sequence = kNoSequence;
  std::uint64_t bytes = 0;  // the larger side, as of Collective; 0 where not known
  DataType data_type = DataType::unknown;
  std::int32_t peer = kNoRank;  // root or other side: its rank within the group, not its global rank
  // The same for issues that one launch carries out together; kNoCorrelation where that is not known.
  CorrelationId correlation = kNoCorrelation;
  StringId algorithm = 0;      // "RING"; 0 where not known
  StringId protocol = 0;       // "LL128"; 0 where not known
  std::uint16_t channels = 0;  // 0 where not known

  bool operator==(const CollectiveIssue&) const = default;
};

struct Step {
  LaneId lane = 0;  // the host thread that declared it
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  std::int64_t number = 0;

  bool operator==(const Step&) const = default;
};

// The same instant on several clocks; kUnknownTime where one was not read.
struct ClockSnapshot {
  Nanoseconds time = 0;  // the file's clock
  Nanoseconds realtime = kUnknownTime;
  Nanoseconds monotonic_raw = kUnknownTime;
  std::uint64_t tsc = 0;

  bool operator==(const ClockSnapshot&) const = default;
};

// Events that were lost between two instants, and why. Nothing is ever lost silently.
struct Drop {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  std::uint64_t count = 0;
  StringId source = 0;  // "nvtx"
  StringId reason = 0;  // "ring full"

  bool operator==(const Drop&) const = default;
};

}  // namespace lockstep::trace

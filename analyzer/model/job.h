// A job in memory: what every importer produces and everything after it reads. One Job holds all ranks of one
// run, on one clock. Times are int64 nanoseconds; columns are plain vectors, sorted as stated, so that a
// million activities cost 64 bytes each and no pointers.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/model/channel_path.h"
#include "analyzer/model/shared_ranks.h"
#include "analyzer/model/training_setup.h"
#include "trace/events/event.h"

namespace lockstep::analyzer {

using trace::DataType;
using trace::kNoRank;
using trace::kNoSequence;
using trace::kUnknownTime;
using trace::Nanoseconds;
using trace::Operation;
using trace::Pass;

// Interned strings. Ids are dense and start at 0, the empty string.
class StringTable {
 public:
  StringTable();
  StringTable(const StringTable& other);  // the views must point into the copy
  StringTable& operator=(const StringTable& other);
  // Never throws, or vectors of ranks would copy all of their tables as they grow.
  StringTable(StringTable&&) noexcept = default;
  StringTable& operator=(StringTable&&) noexcept = default;
  ~StringTable() = default;
  std::uint32_t intern(std::string_view text);
  std::string_view view(std::uint32_t id) const { return texts_[id]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // stable addresses
  std::unordered_map<std::string_view, std::uint32_t> ids_;
};

// docs/metrics.md, "Activities". `unclassified` looks like communication and is neither: in no class.
enum class Class : std::uint8_t { compute, collective, p2p, copy, sync, unclassified };
const char* to_string(Class activity_class);

inline constexpr std::uint32_t kNone = 0xFFFFFFFFu;

// One thing that a device lane did.
struct Activity {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;  // never before begin
  Nanoseconds launch_begin =
      kUnknownTime;  // the call that launched it; on a CPU lane where the thread itself computes,
  Nanoseconds launch_end = kUnknownTime;  //   both are the activity's begin
  std::uint32_t name = 0;                 // StringTable
  std::uint32_t lane = 0;                 // RankTrace::lanes
  std::uint32_t communication = kNone;    // RankTrace::communications, for classes collective and p2p
  std::uint32_t step = kNone;             // RankTrace::steps: the step that launched it
  std::uint32_t compute = kNone;          // RankTrace::computations, where more is known of a computation
  // Of a kernel (trace/events/launch_shape.h): equal where the same name was launched in the same size, and
  // how many warps that launched. Each 0 where it is not known.
  std::uint32_t shape = 0;
  std::uint32_t warps = 0;
  Class activity_class = Class::compute;
};

// What a computation is part of. Activities of the same layer, microbatch and pass share one.
struct Computation {
  std::int32_t layer = -1;       // of the model, from 0; -1: none, or not known
  std::int32_t microbatch = -1;  // of its step, from 0; -1: none, or not known
  Pass pass = Pass::other;
  // NOLINTNEXTLINE(modernize-use-nullptr): what the compiler makes of it compares with 0
  friend auto operator<=>(const Computation&, const Computation&) = default;
};

// What is known of a collective or point-to-point activity besides its interval.
struct Communication {
  std::uint32_t activity = kNone;  // RankTrace::activities
  std::uint32_t group = kNone;     // Job::groups
  Operation operation = Operation::unknown;
  DataType data_type = DataType::unknown;
  bool has_metadata = false;            // group, sequence and sizes were recorded, not inferred from a name
  std::int32_t peer = kNoRank;          // root, or other side; global rank
  std::int64_t sequence = kNoSequence;  // per group; kNoSequence: match by order
  std::int64_t bytes = -1;              // larger side; -1: not known
};

// Host-side range: step, phase, data loading, launch call or any other. Device time never.
enum class HostKind : std::uint8_t {
  other,
  step,
  data_loading,
  launch,
  // The call of a module, or the part of a backward pass that is its, named by its place in the model:
  // "layers.7.mlp". Kept whatever its length, as the next two.
  module,
  // A framework's operator that no other one called, or a node of autograd.
  operation,
  // Where the main thread's Python was from one look at its stack to the next: "load (train.py:31)". Looks
  // are no calls: they name time, and no range nests in another.
  python_place,
};
// Ranges and calls at least as long are always kept: a host that launches late was in one of them.
inline constexpr Nanoseconds kLongHostRange = 1'000'000;
struct HostRange {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  std::uint32_t name = 0;
  std::uint32_t lane = 0;   // RankTrace::lanes
  std::uint16_t depth = 0;  // nesting within its lane, 0 outermost
  HostKind kind = HostKind::other;
};

struct StepMark {
  std::int64_t number = 0;
  Nanoseconds begin = 0;  // host range of the step
  Nanoseconds end = 0;
};

struct JobLane {
  trace::LaneKind kind = trace::LaneKind::host_thread;
  std::uint64_t handle = 0;  // thread id or stream id
  std::string name;
};

// A quantity that the program told now and then: memory in use, the loss.
struct CounterPoint {
  Nanoseconds time = 0;
  double value = 0;
};
struct CounterTrack {
  std::string name;
  std::vector<CounterPoint> points;  // sorted by time
};

// How far the rank's training threads (the one that runs the training loop, PyTorch's autograd threads, the
// intra-op pool) had come at an instant: sums over them since recording began. What they did between two
// points is known as a sum alone.
struct SchedulingPoint {
  Nanoseconds time = 0;
  std::int64_t on_cpu_ns = 0;    // they ran
  std::int64_t runnable_ns = 0;  // they were ready to run, and waited for a processor
  std::int64_t waited_ns =
      0;              // the part of that in which the same thread waited, the one that waited longest
                      //   between two points: never more than the time between them
  bool known = true;  // false: nobody looked since the point before; the sums stand still
  friend bool operator==(const SchedulingPoint&, const SchedulingPoint&) = default;
};

struct Warning {
  std::string code;     // stable, for machines: "rank_missing"
  std::string message;  // for people; names file, rank, number
  std::int32_t rank = kNoRank;
};

// What NTP keeps between hosts of one site, on a bad day.
inline constexpr std::int64_t kWallClockUncertaintyNs = 1'000'000;

// Which readings were taken from one clock, and how it was put onto the job's.
struct Clock {
  std::uint32_t domain = 0;    // ranks of one domain share a clock; 0: the job's own
  std::int64_t offset_ns = 0;  // aligned = recorded + offset; in the middle of the run, where it drifts
  std::int64_t uncertainty_ns = 0;
  double drift = 0;  // what the job's clock gained on it, per unit of time
  // "same host", "assumed", "wall clock", "happened-before", "pings", "pings and happened-before", "none"
  std::string evidence;
  bool related = true;  // false: to no other rank's clock; times between them mean nothing
  std::string name;     // what the input calls the clock
};

// One exchange of two hosts: `there` answered what `here` asked, each by its own clock.
struct ClockExchange {
  std::uint32_t here = 0;    // Clock::domain
  std::uint32_t there = 0;   // Clock::domain
  Nanoseconds asked = 0;     // here
  Nanoseconds heard = 0;     // there
  Nanoseconds answered = 0;  // there
  Nanoseconds received = 0;  // here
};

// A span of time, ends included.
struct TimeSpan {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

// A collective or message that had begun and not ended when recording did.
struct OpenOperation {
  Nanoseconds begin = 0;
  std::uint32_t name = 0;       // StringTable
  std::uint32_t group = kNone;  // Job::groups
  Operation operation = Operation::unknown;
  std::int32_t peer = kNoRank;  // root, or other side; global rank
  std::int64_t sequence = kNoSequence;
  std::int64_t bytes = -1;  // larger side; -1: not known
  DataType data_type = DataType::unknown;
  bool may_have_ended = false;  // its source knows of no ends
  bool begun = true;            // false: handed over, and the rank's device has not come to it
};

// How far a rank was in a group, where its source counts: also in operations that it no longer holds. Where a
// group has messages besides collectives, they may be what was counted.
struct GroupProgress {
  std::uint32_t group = kNone;  // Job::groups
  std::int64_t issued = kNoSequence;
  std::int64_t ended = kNoSequence;
};

// An operation of which its source tells that it ended, and not when.
struct EndedOperation {
  std::uint32_t name = 0;       // StringTable
  std::uint32_t group = kNone;  // Job::groups
  std::int64_t sequence = kNoSequence;
  bool is_message = false;  // then `sequence` counts the rank's messages
};

// A file that was not closed ends with its last flush: up to this long before its process did.
inline constexpr Nanoseconds kLastFlush = 1'500'000'000;

// How a rank's recording ended.
struct Ending {
  std::vector<OpenOperation> operations;     // sorted by begin
  std::vector<GroupProgress> progress;       // each group once
  std::optional<EndedOperation> last_ended;  // where no activity stands for the one that ended last
  std::vector<std::uint32_t> ranges;         // StringTable: other ranges still open, outermost first
  Nanoseconds recorded_until = kUnknownTime;
  bool closed = false;  // the process ended by itself, and its recording with it
  // When `lockstep record --hang-timeout` found the job silent; kUnknownTime where it did not.
  Nanoseconds hang_noted = kUnknownTime;
  // When the job was interrupted (JobEnd::interrupted_by): operations that ended only then are among the open
  // ones. kUnknownTime where it was not.
  Nanoseconds interrupted = kUnknownTime;
  std::string doing;  // what its stack showed then, in words; empty where nobody looked
};

struct RankTrace {
  std::int32_t rank = 0;  // global
  std::string host;       // "" where the input does not say
  std::string device;     // "cpu", "cuda:0", …
  // Of its GPU, as `nvidia-smi -L` prints it: ranks that have the same one share it. "" where it is not
  // known.
  std::string device_uuid;
  std::string file;
  std::vector<JobLane> lanes;
  std::vector<Activity> activities;           // sorted by (begin, launch_begin, end)
  std::vector<Communication> communications;  // in the order of their activities
  std::vector<Computation> computations;      // any order
  std::vector<CounterTrack> counters;         // each name once, in the order of first points
  // Sorted by time, sums never fall; empty where it was not recorded.
  std::vector<SchedulingPoint> scheduling;
  // What of ranges of computation was cut out of them, because no training thread ran: all slept or were
  // blocked, or one at least was ready and none had a core. Sorted by begin, disjoint. Of CPUs alone.
  std::vector<TimeSpan> off_cpu;
  std::vector<TimeSpan> without_core;
  bool off_cpu_known = false;  // false: nothing was cut because nobody knows
  std::int32_t cores = 0;      // that the process may run on, when it began to train; 0: not known
  // Which ones: "0-3,8". Ranks of one host with the same share them. Empty: not known.
  std::string core_set;
  double core_quota = 0;  // cores' time that its control group may use; 0: no limit, or not known
  // Sorted by (lane, begin, depth). Steps, data loading and what is long; the rest only if asked for.
  std::vector<HostRange> host_ranges;
  std::vector<StepMark> steps;       // sorted by begin, do not overlap
  std::uint64_t dropped_events = 0;  // events lost in recording or dropped at import
  // When device activities may be missing because the file is damaged: what was computed, moved and idle then
  // is not known. Sorted by begin.
  std::vector<TimeSpan> lost;
  bool was_lost_within(Nanoseconds begin, Nanoseconds end) const;  // anything of this span
  // When nothing was recorded, on purpose (--steps, --duration, stopped by hand). Sorted by begin.
  std::vector<TimeSpan> unrecorded;
  Ending ending;
  std::optional<TrainingSetup> training;  // where the program told it
  std::int64_t resolution_ns = 1;         // of the timestamps: 1000 for whole-µs traces
  // What the profiler says it worked itself, in all files of the rank. 0: nothing, or it does not say.
  Nanoseconds profiler_ns = 0;
  Clock clock;
};

struct JobGroup {
  std::string name;
  std::string description;
  SharedRanks ranks;      // global, sorted; empty where not known
  std::int32_t size = 0;  // how many ranks it has, also where they are not known; 0: not known either
  // Of a file whose source knows ranks within the group alone (NCCL): its own. The peers of the group's
  // communications are such ranks too, until the ranks meet.
  std::int32_t own_rank = kNoRank;
  // No file names its ranks: these are the ones that told of it, and it may have others.
  bool may_have_others = false;
};

// What became of the recorded job, as its recorder says.
struct JobEnd {
  std::optional<std::int32_t> exit_code;  // absent: not known, or ended by a signal
  std::optional<std::int32_t> signal;
  // The signal by which somebody asked it to end, if one did: 2 (Ctrl-C), 15 and the like; and when, in ns
  // since 1970.
  std::optional<std::int32_t> interrupted_by = std::nullopt;
  std::int64_t interrupted_at = 0;
};

// How the recorded job was started, as its recorder says: what two runs may differ in.
struct JobStart {
  std::vector<std::string> command;  // empty: not known
  std::string working_folder;
  // What of its environment may make it faster or slower (NCCL_ALGO, OMP_NUM_THREADS, …), by name.
  std::vector<std::pair<std::string, std::string>> environment;
};

// How many of a job's files are dumps of flight recorders: of its last operations, with communication alone
// (no computation, no stacks, times to a tenth of a second or none), in which those that ended differ from
// those that failed.
enum class Dumps : std::uint8_t { none, some, all };

struct Job {
  std::string path;                  // as the user gave it
  std::vector<std::string> sources;  // "lockstep", "kineto"
  Dumps dumps = Dumps::none;
  std::vector<RankTrace> ranks;  // sorted by rank, each rank once
  std::vector<JobGroup> groups;
  StringTable strings;
  std::int32_t world_size = 0;  // declared by the input; else the number of ranks
  std::vector<std::int32_t> ranks_missing;
  // Aligned time t is `realtime_of_zero + t` ns since 1970; absent where the clocks were not related.
  std::optional<std::int64_t> realtime_of_zero;
  JobStart start;
  JobEnd end;
  std::vector<ClockExchange> exchanges;
  std::vector<Warning> warnings;
  std::vector<ChannelPath> paths;  // sorted by (from, to, connection); empty where no log of NCCL was given
};

}  // namespace lockstep::analyzer

// What was measured of a job, as plain data (docs/metrics.md defines the fields): of ranks, steps,
// operations, groups and layers; of pipelines and beside theory: pipeline_report.h, theory_report.h. What is
// made of it (who is late, findings, the whole report) stands in report.h.
//
// Points in time are ns relative to `Report::origin_ns`'s instant. Absent ratios are std::nullopt.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// The nine causes, in order of precedence: each instant of a window goes to the first that holds.
enum class Cause : std::uint8_t {
  compute,
  transfer,
  barrier_wait,
  pipeline_bubble,
  copy,
  data_wait,
  host_bound,
  queued,
  other,
};
inline constexpr std::size_t kCauseCount = 9;
const char* to_string(Cause cause);  // "barrier_wait"

struct Partition {
  std::array<std::int64_t, kCauseCount> ns{};
  std::int64_t compute_over_communication_ns = 0;  // the part of compute that hides communication
  std::int64_t& operator[](Cause cause) { return ns[static_cast<std::size_t>(cause)]; }
  std::int64_t operator[](Cause cause) const { return ns[static_cast<std::size_t>(cause)]; }
  std::int64_t total() const;
};

// Measures of one rank over one window.
struct Measures {
  // False where device activities of this window were lost with a damaged part of the file, or the rank has
  // none at all: then nothing else here means anything.
  bool known = true;
  // False where no partner of any of the rank's communications left a trace: the waits below are then 0 and
  // part of the transfer.
  bool waits_known = true;
  // Times begin with 0, what is optional is absent: measures.def says what each is.
#define LOCKSTEP_MEASURE(type, name, known, meaning) type name{};
#include "analyzer/report/measures.def"
  Partition partition;
  // Compute that hides no communication.
  std::int64_t compute_alone_ns() const {
    return compute_ns - overlap_ns;
  }
};

// What running compute beside communication costs: the kernels of both share multiprocessors and memory. Of
// compute that ran wholly under communication, and of which the rank did the same (name and shape) alone as
// well.
struct OverlapPrice {
  std::int64_t activities = 0;  // how many
  std::int64_t under_ns = 0;    // their time
  std::int64_t alone_ns = 0;    // Σ of the medians of the same alone
  double inflation() const { return static_cast<double>(under_ns) / static_cast<double>(alone_ns); }
  std::int64_t price_ns() const { return under_ns - alone_ns; }  // negative: nothing but noise
};

struct RankReport {
  std::int32_t rank = 0;
  std::string host;
  std::string device;
  Measures measures;
  std::uint64_t dropped_events = 0;
  Clock clock;
  // Device activities in the rank's file, by class; sync and unclassified are not among them.
  struct Activities {
    std::int64_t compute = 0, collective = 0, p2p = 0, copy = 0;
  } activities;
  std::int64_t begin_ns = 0;  // of the whole window
  std::int64_t end_ns = 0;
  // Of its exposed transfer in steady training, as the root of broadcasts or scatters before its last
  // receiver had come (docs/metrics.md); the verdict says it.
  std::int64_t root_wait_ns = 0;
  bool damaged = false;  // device activities of some time are lost
  std::optional<OverlapPrice> overlap_price =
      std::nullopt;  // absent: too few activities of which it can be told
};

struct StepReport {
  std::int64_t step = 0;
  std::int32_t rank = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  Measures measures;
};

// What a rank waited for in an operation: the wait states of Scalasca.
enum class WaitState : std::uint8_t {
  at_nxn,          // for the last of an n-to-n operation
  at_barrier,      // the same of one that moves nothing
  late_broadcast,  // for the root of a broadcast or scatter
  early_reduce,    // the root of a reduce or gather, for the last of the others
  late_sender,     // a receiver for its sender
  late_receiver,   // a sender for its receiver
  late_partner,    // of a message whose direction was not recorded
};
inline constexpr std::size_t kWaitStateCount = 7;
const char* to_string(WaitState state);  // "wait_at_nxn", "late_sender"
const char* title_of(WaitState state);   // "Wait at N×N", "Late Sender"

struct CollectiveRank {
  std::int32_t rank = 0;
  std::int64_t arrival_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t wait_ns = 0;
  std::int64_t transfer_ns = 0;
  std::int64_t hidden_ns = 0;      // of the wait, under compute
  bool hidden_known = true;        // false where the rank's file lost activities
  std::uint32_t activity = kNone;  // index into the rank's activities (not in the JSON)
  std::int64_t covered_ns = 0;     // of wait and transfer, under compute (not in the JSON)
  // How long the rank computed before it arrived (not in the JSON): with `hidden_ns` and `covered_ns` it
  // tells how much compute lies under several of its operations together, each instant once.
  std::int64_t compute_before_ns = 0;
  WaitState wait_state = WaitState::at_nxn;  // what it waited for, if it did (in the JSON: wait_states[])
  // Of the transfer, at least this much is not under compute.
  std::int64_t exposed_transfer_ns() const { return std::max<std::int64_t>(0, transfer_ns - covered_ns); }
};

struct CollectiveReport {
  std::int64_t id = 0;
  std::optional<std::int64_t> step;
  Operation operation = Operation::unknown;
  std::string name;  // as the program calls it among its operations: "layer 3"; "" where it does not
  std::string group_name;
  std::vector<std::int32_t> group_ranks;
  // How many ranks the group has, also those that the list does not name (not in the JSON); 0: not known.
  std::int32_t group_size = 0;
  std::optional<std::int64_t> sequence;
  std::optional<std::int64_t> bytes;
  DataType data_type = DataType::unknown;
  std::string evidence;       // "sequence", "order", …: which rule matched it
  bool partial = false;       // a participant has no record
  bool unfinished = false;    // a participant never came: all of it is waiting, whenever the others left
  bool root_unknown = false;  // a rooted operation, computed as if everyone waited for everyone
  std::optional<std::int32_t> last_arriver;                       // absent: within clock error
  std::optional<std::int64_t> last_arriver_margin_ns;             // absent where nobody is named
  std::optional<double> algbw_gbps, busbw_gbps, busbw_wire_gbps;  // gigabytes a second
  std::int64_t wait_ns = 0;                                       // sum over ranks
  std::vector<CollectiveRank> ranks;
  // False where all ranks but one left no record: nobody knows who waited.
  bool waits_known() const { return ranks.size() > 1 || !partial || unfinished; }
  // How many ranks take part, of one that is partial; absent where nobody can tell.
  std::optional<std::size_t> participants() const;
};

struct BlameReport {
  std::int32_t rank = 0;
  std::int64_t blame_ns = 0;
  std::int64_t exposed_ns = 0;   // of that, what compute did not hide
  std::int64_t collectives = 0;  // how many operations waited for it
  // Most of it in operations that a rank without a record takes part in: somebody else may have been later.
  bool partial = false;
  std::string root_cause;  // what this rank was doing instead, in words; "" where not known
  // Late again and again, as Report::lateness has it; absent where nobody can tell.
  std::optional<bool> persistent;
  // Of these figures, what a pipeline's schedule makes: waiting that is nobody's lateness. `root_cause` is
  // that of the rest.
  std::int64_t scheduled_ns = 0;
  std::int64_t scheduled_exposed_ns = 0;
  std::int64_t scheduled_collectives = 0;
};

// A process group's operations of one kind.
struct GroupOperation {
  Operation operation = Operation::unknown;
  std::int64_t count = 0;
  std::optional<std::int64_t> bytes;  // Σ of the larger sides; absent where one is not known
  // Means over the selected steps and the group's ranks; absent without steps or sizes.
  std::optional<double> bytes_per_step_and_rank;
  std::optional<double> wire_bytes_per_step_and_rank;  // what a ring sends
  std::optional<std::int64_t> wait_ns;                 // Σ over ranks; absent where nobody knows
  std::int64_t transfer_ns = 0;
  std::optional<std::int64_t> exposed_ns;             // of both together, not under compute
  std::optional<double> busbw_gbps, busbw_wire_gbps;  // medians
};

struct GroupReport {
  std::string name;
  std::vector<std::int32_t> ranks;
  std::vector<GroupOperation> operations;  // most transfer and waiting first
};

// Collectives that come again in every step: those of one name, or the k-th of its kind in a group. Times are
// sums over operations and ranks; wait and transfer are hidden, exposed transfer and exposed wait together.
struct BucketReport {
  std::string group_name;
  std::vector<std::int32_t> group_ranks;
  Operation operation = Operation::unknown;
  std::string name;                   // as the program calls it: "layer 3"; "" where it does not
  std::int64_t position = 0;          // within a step: the first one's among the group's of its kind, from 0
  std::int64_t steps = 0;             // how many have it
  std::int64_t count = 0;             // operations
  std::int64_t records = 0;           // on all ranks: what the sums are of
  std::optional<std::int64_t> bytes;  // median; absent where one is not known
  std::int64_t transfer_ns = 0;
  std::optional<std::int64_t> wait_ns;  // absent where nobody knows: then it is in the transfer
  // Under compute, and not; absent where files lost activities.
  std::optional<std::int64_t> hidden_ns, exposed_transfer_ns, exposed_wait_ns;
  // Of one operation on one rank.
  std::int64_t mean(std::int64_t ns) const {
    return records == 0 ? 0 : ns / records + (ns % records + records / 2) / records;
  }
};

// All waits of one kind.
struct WaitStateReport {
  WaitState state = WaitState::at_nxn;
  std::int64_t operations = 0;             // in which somebody waited so
  std::int64_t waits = 0;                  // how many ranks did, in all of them
  std::int64_t wait_ns = 0;                // Σ
  std::optional<std::int64_t> exposed_ns;  // of that, not under compute; absent where files lost activities
  std::int32_t worst_rank = 0;             // that waited longest so
  std::int64_t worst_rank_ns = 0;
};

// How long one pass of a layer took.
struct LayerPass {
  // Over the ranks that run it, of each rank's sum.
  std::int64_t min_ns = 0, median_ns = 0, max_ns = 0;
  std::int64_t total_ns = 0;  // of all ranks (not in the JSON)
  std::int32_t slowest_rank = 0;
  std::int64_t microbatch_ns = 0;  // the median over ranks, steps and microbatches
};

struct LayerReport {
  std::optional<std::int32_t> layer;  // absent for a part that is no layer
  std::string part;                   // which, as the program calls it: "embedding"; "" for a layer
  std::vector<std::int32_t> ranks;    // that run it
  std::optional<LayerPass> forward, backward, recompute;
  std::int32_t slowest_rank = 0;  // of all passes together
};

struct CounterStep {
  std::int64_t step = 0;
  double amount = 0;  // what was counted in it
};

struct CounterReport {
  std::string name;
  std::int32_t rank = 0;
  std::int64_t points = 0;
  double min = 0, max = 0, last = 0;
  std::vector<CounterStep> per_step;  // of rates; in the order of steps
};

struct EfficiencyReport {
  std::optional<double> load_balance, communication, parallel;
  // What they are made of: load_balance = mean / max compute, communication = max compute / the longest
  // window.
  double mean_compute_ns = 0;
  std::int64_t max_compute_ns = 0;
  std::int64_t window_ns = 0;
};

}  // namespace lockstep::analyzer

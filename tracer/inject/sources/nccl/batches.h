// Operations as the plugin tells of them, gathered to batches (what one kernel carries out), each with the
// launch of its kernel, and written as issues. On the writer thread.
//
// From v5 on libnccl tells of the launch, on the thread that launches, and then of what was launched: there
// directly after, or later on a thread of the driver. Launches and batches of one call and communicator come
// in the same order. Before v5 it tells of the batch alone, on the launching thread, directly after the
// launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/writer.h"
#include "tracer/inject/core/host_lanes.h"
#include "tracer/inject/sources/nccl/communicators.h"
#include "tracer/inject/sources/nccl/records.h"

namespace lockstep::tracer::nccl {

class Batches {
 public:
  static constexpr std::size_t kMaxPending = 65536;

  Batches(trace::Writer& writer, HostLanes& lanes, Communicators& communicators)
      : writer_(writer), lanes_(lanes), communicators_(communicators) {}

  void operation(std::uint32_t thread, const OperationRecord& record, std::string_view function,
                 trace::Nanoseconds time);
  void batch_end(const BatchEndRecord& record, trace::Nanoseconds time);
  void launch(std::uint32_t thread, const LaunchRecord& record, trace::Nanoseconds time);
  void launch_end(const LaunchEndRecord& record, trace::Nanoseconds time);

  // Writes what is complete. What another thread may still have to say something about waits for the drain
  // after the next.
  void end_drain(std::uint64_t drain);
  // Writes what there is.
  void finish();

  // A number for operations that one launch carries out, not used before in this file.
  trace::CorrelationId new_correlation() { return ++correlations_; }

  // How many operations were given up since the last call, because too many were pending.
  std::uint64_t take_lost();
  std::uint64_t of_unknown_communicators() const { return of_unknown_communicators_; }

 private:
  struct Operation {
    OperationRecord record;
    std::string function;
  };
  struct Batch {
    std::uint32_t thread = 0;
    trace::Nanoseconds begin = 0;
    trace::Nanoseconds end = 0;
    std::uint64_t drain = 0;  // in which it ended
    std::vector<Operation> operations;
  };
  struct Launch {
    std::uint64_t number = 0;
    std::uint32_t thread = 0;
    trace::Nanoseconds begin = 0;
    trace::Nanoseconds end = 0;
    bool ended = false;
  };
  using Call = std::pair<std::uint64_t, std::uint64_t>;  // call, context

  // False if it has to wait.
  bool write(Batch& batch, bool patient);
  void write_issue(const Operation& operation, const Batch& batch, trace::CorrelationId correlation);
  void forget_oldest_launch();

  trace::Writer& writer_;
  HostLanes& lanes_;
  Communicators& communicators_;
  std::unordered_map<std::uint64_t, Batch> open_;
  std::size_t open_operations_ = 0;
  std::deque<Batch> ended_;
  std::map<Call, std::deque<Launch>> launches_;
  std::unordered_map<std::uint64_t, Call> launch_calls_;     // launches that have not ended
  std::deque<std::pair<std::uint64_t, Call>> launch_order_;  // the last ones, also those that are gone
  std::uint64_t drain_ = 0;
  trace::CorrelationId correlations_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t of_unknown_communicators_ = 0;
};

}  // namespace lockstep::tracer::nccl

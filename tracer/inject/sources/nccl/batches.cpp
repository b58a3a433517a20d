#include "tracer/inject/sources/nccl/batches.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tracer/inject/core/thread_name.h"
#include "tracer/inject/sources/nccl/names.h"

namespace lockstep::tracer::nccl {

namespace {

bool has_peer(trace::Operation operation) {
  switch (operation) {
    case trace::Operation::broadcast:
    case trace::Operation::reduce:
    case trace::Operation::gather:
    case trace::Operation::scatter:
    case trace::Operation::send:
    case trace::Operation::recv:
      return true;
    default:
      return false;
  }
}

std::uint64_t bytes_of(const OperationRecord& record) {
  std::uint64_t bytes = 0;
  const std::uint64_t size = trace::size_in_bytes(record.data_type);
  return __builtin_mul_overflow(record.count, size, &bytes) ? 0 : bytes;
}

// NCCL hands all-gathers and broadcasts over as bytes: what they are of, only the call says.
trace::DataType data_type_of(const OperationRecord& record) {
  if (record.called_data_type != trace::DataType::unknown) return record.called_data_type;
  const bool as_bytes =
      record.operation == trace::Operation::all_gather || record.operation == trace::Operation::broadcast;
  return as_bytes && record.data_type == trace::DataType::int8 ? trace::DataType::unknown : record.data_type;
}

}  // namespace

void Batches::operation(std::uint32_t thread, const OperationRecord& record, std::string_view function,
                        trace::Nanoseconds time) {
  communicators_.learn(record.context, record.hash, record.rank);
  if (record.batch == 0) {  // alone: no batch tells when it ends
    Batch alone{thread, time, time, drain_, {}};
    alone.operations.push_back({record, std::string(function)});
    ended_.push_back(std::move(alone));
    return;
  }
  if (open_operations_ >= kMaxPending) {
    ++lost_;
    return;
  }
  const auto [where, fresh] = open_.try_emplace(record.batch);
  Batch& batch = where->second;
  if (fresh) {
    batch.thread = thread;
    batch.begin = time;
  }
  batch.end = time;
  batch.operations.push_back({record, std::string(function)});
  ++open_operations_;
}

void Batches::batch_end(const BatchEndRecord& record, trace::Nanoseconds time) {
  const auto found = open_.find(record.batch);
  if (found == open_.end()) return;  // without operations, or ended before
  found->second.end = time;
  found->second.drain = drain_;
  open_operations_ -= found->second.operations.size();
  ended_.push_back(std::move(found->second));
  open_.erase(found);
}

void Batches::launch(std::uint32_t thread, const LaunchRecord& record, trace::Nanoseconds time) {
  if (record.call == 0) return;  // no batch would find it
  if (launch_order_.size() >= kMaxPending) forget_oldest_launch();
  const Call call{record.call, record.context};
  launches_[call].push_back({record.launch, thread, time, time, false});
  launch_calls_[record.launch] = call;
  launch_order_.emplace_back(record.launch, call);
}

void Batches::launch_end(const LaunchEndRecord& record, trace::Nanoseconds time) {
  const auto call = launch_calls_.find(record.launch);
  if (call == launch_calls_.end()) return;
  const auto launches = launches_.find(call->second);
  if (launches != launches_.end()) {
    for (Launch& launch : launches->second) {
      if (launch.number != record.launch) continue;
      launch.end = time;
      launch.ended = true;
    }
  }
  launch_calls_.erase(call);
}

// Launches into CUDA graphs find no batch of their own.
void Batches::forget_oldest_launch() {
  const auto [number, call] = launch_order_.front();
  launch_order_.pop_front();
  launch_calls_.erase(number);
  const auto launches = launches_.find(call);
  if (launches == launches_.end()) return;
  if (!launches->second.empty() && launches->second.front().number == number) launches->second.pop_front();
  if (launches->second.empty()) launches_.erase(launches);
}

void Batches::end_drain(std::uint64_t drain) {
  const bool overflows = ended_.size() > kMaxPending;
  std::deque<Batch> waiting;
  for (Batch& batch : ended_) {
    const bool patient = !overflows && batch.drain + 1 >= drain_;
    if (!write(batch, patient)) waiting.push_back(std::move(batch));
  }
  ended_ = std::move(waiting);
  drain_ = drain + 1;
}

void Batches::finish() {
  for (auto& [number, batch] : open_) ended_.push_back(std::move(batch));
  open_.clear();
  open_operations_ = 0;
  std::stable_sort(ended_.begin(), ended_.end(),
                   [](const Batch& a, const Batch& b) { return a.begin < b.begin; });
  for (Batch& batch : ended_) write(batch, false);
  ended_.clear();
}

bool Batches::write(Batch& batch, bool patient) {
  const OperationRecord& first = batch.operations.front().record;
  const Communicator* const communicator = communicators_.of_context(first.context);
  if (patient && communicator == nullptr) return false;
  const bool captured = (first.flags & operation_flags::kCaptured) != 0;
  const bool has_launch = first.call != 0 && (first.flags & operation_flags::kCopyEngine) == 0;
  if (has_launch && !captured) {
    const auto found = launches_.find({first.call, first.context});
    const bool there = found != launches_.end() && !found->second.empty();
    if (patient && (!there || !found->second.front().ended)) return false;
    if (there) {
      const Launch launch = found->second.front();
      batch.thread = launch.thread;
      batch.begin = launch.begin;
      batch.end = launch.ended ? launch.end : std::max(launch.begin, batch.end);
      found->second.pop_front();
      if (found->second.empty()) launches_.erase(found);
      launch_calls_.erase(launch.number);
    }
  }
  const trace::CorrelationId correlation = new_correlation();
  for (const Operation& operation : batch.operations) write_issue(operation, batch, correlation);
  return true;
}

void Batches::write_issue(const Operation& operation, const Batch& batch, trace::CorrelationId correlation) {
  const OperationRecord& record = operation.record;
  Communicator communicator;
  if (const Communicator* const known = communicators_.of_context(record.context); known != nullptr) {
    communicator = *known;
  }
  if (communicator.hash == 0) {
    ++of_unknown_communicators_;
  } else if (communicator.ranks == 0) {
    communicator.ranks = communicators_.of_hash(communicator.hash).ranks;
  }
  trace::CollectiveIssue issue;
  issue.lane = lanes_.lane(batch.thread);
  issue.begin = batch.begin;
  issue.end = std::max(batch.begin, batch.end);
  issue.name = writer_.intern(operation.function.empty() ? call_name(record.operation)
                                                         : std::string_view(operation.function));
  issue.group = communicators_.group(communicator, writer_);
  issue.operation = record.operation;
  constexpr std::uint8_t kUncounted =
      operation_flags::kPointToPoint | operation_flags::kCaptured | operation_flags::kCopyEngine;
  const auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if ((record.flags & kUncounted) == 0 && record.sequence <= kLargest) {
    issue.sequence = static_cast<std::int64_t>(record.sequence);
  }
  issue.bytes = larger_side(record.operation, bytes_of(record), communicator.ranks);
  issue.data_type = data_type_of(record);
  if (has_peer(record.operation)) issue.peer = record.peer;
  issue.correlation = correlation;
  issue.algorithm = writer_.intern(algorithm_name(record.algorithm));
  issue.protocol = writer_.intern(protocol_name(record.protocol));
  issue.channels = record.channels;
  writer_.append(issue);
}

std::uint64_t Batches::take_lost() {
  return std::exchange(lost_, 0);
}

}  // namespace lockstep::tracer::nccl

#include "tracer/inject/sources/nccl/nvtx_issues.h"

#include <array>
#include <utility>

#include "tracer/inject/sources/nccl/names.h"

namespace lockstep::tracer::nccl {

namespace {

constexpr std::size_t kMaxThreads = 65536;

constexpr std::array kCalls{trace::Operation::all_reduce,     trace::Operation::all_gather,
                            trace::Operation::reduce_scatter, trace::Operation::all_to_all,
                            trace::Operation::broadcast,      trace::Operation::reduce,
                            trace::Operation::gather,         trace::Operation::scatter,
                            trace::Operation::send,           trace::Operation::recv};

}  // namespace

void NvtxIssues::learn_names() {
  if (std::exchange(names_are_fresh_, true)) return;
  for (const trace::Operation operation : kCalls)
    operations_[writer_.intern(call_name(operation))] = operation;
  operations_[writer_.intern("ncclAllToAll")] = trace::Operation::all_to_all;
  // The names in libnccl's payload schemas, of all versions.
  fields_[writer_.intern("NCCL communicator ID")] = Field::communicator;
  fields_[writer_.intern("Message size [bytes]")] = Field::bytes;
  fields_[writer_.intern("Bytes")] = Field::bytes;
  fields_[writer_.intern("Root")] = Field::root;
  fields_[writer_.intern("Peer rank")] = Field::peer;
  fields_[writer_.intern("No. of ranks")] = Field::ranks;
  fields_[writer_.intern("Rank")] = Field::rank;
  group_start_ = writer_.intern("ncclGroupStart");
  group_end_ = writer_.intern("ncclGroupEnd");
}

void NvtxIssues::range(std::uint32_t thread, const trace::HostRange& range,
                       std::span<const trace::Argument> arguments) {
  learn_names();
  if (threads_.size() >= kMaxThreads) threads_.clear();
  if (range.name == group_start_) {
    ++threads_[thread].depth;
    return;
  }
  if (range.name == group_end_) return end_group(threads_[thread], range);

  Communicator communicator;
  Operation operation;
  for (const trace::Argument& argument : arguments) {
    const auto field = fields_.find(argument.key);
    if (field == fields_.end()) continue;
    const auto number = static_cast<std::int32_t>(argument.bits);
    switch (field->second) {
      case Field::communicator:
        communicator.hash = argument.bits;
        break;
      case Field::bytes:
        operation.bytes = argument.bits;
        break;
      case Field::root:
      case Field::peer:
        operation.issue.peer = number;
        break;
      case Field::ranks:
        communicator.ranks = number;
        break;
      case Field::rank:
        communicator.rank = number;
        break;
    }
  }
  if (communicator.ranks > 0) return communicators_.learn_from_range(communicator);

  const auto known = operations_.find(range.name);
  if (known == operations_.end()) return;
  operation.hash = communicator.hash;
  operation.drain = drain_;
  operation.issue.lane = range.lane;
  operation.issue.begin = range.begin;
  operation.issue.end = range.end;
  operation.issue.name = range.name;
  operation.issue.operation = known->second;
  Thread& where = threads_[thread];
  if (where.depth > 0 && where.grouped.size() < kMaxPending) {
    where.grouped.push_back(operation);
  } else if (pending_.size() < kMaxPending) {
    operation.issue.correlation = batches_.new_correlation();
    pending_.push_back(operation);
  } else {
    ++lost_;
  }
}

void NvtxIssues::end_group(Thread& thread, const trace::HostRange& range) {
  if (thread.depth > 0) --thread.depth;
  if (thread.depth > 0 || thread.grouped.empty()) return;
  const trace::CorrelationId correlation = batches_.new_correlation();
  for (Operation& operation : thread.grouped) {
    operation.issue.begin = range.begin;
    operation.issue.end = range.end;
    operation.issue.correlation = correlation;
    operation.drain = drain_;
    if (pending_.size() < kMaxPending) {
      pending_.push_back(operation);
    } else {
      ++lost_;
    }
  }
  thread.grouped.clear();
}

void NvtxIssues::end_drain(std::uint64_t drain) {
  // The plugin may tell of a communicator on another thread, whose records come with the next drain.
  std::erase_if(pending_, [&](Operation& operation) {
    if (operation.drain + 1 > drain_) return false;
    write(operation);
    return true;
  });
  drain_ = drain + 1;
  names_are_fresh_ = false;
}

void NvtxIssues::finish() {
  for (Operation& operation : pending_) write(operation);
  pending_.clear();
  for (auto& [thread, state] : threads_) {
    for (Operation& operation : state.grouped) write(operation);
    state.grouped.clear();
  }
}

void NvtxIssues::write(Operation& operation) {
  // Libraries before 2.25 say no communicator.
  const bool told_twice =
      operation.hash != 0 ? communicators_.plugin_knows(operation.hash) : communicators_.has_plugin();
  if (told_twice) return;
  trace::CollectiveIssue& issue = operation.issue;
  const bool directed =
      issue.operation == trace::Operation::send || issue.operation == trace::Operation::recv;
  const Communicator communicator = communicators_.of_hash(operation.hash);
  issue.group = communicators_.group(communicator, writer_);
  if (operation.hash != 0 && !directed) issue.sequence = sequences_[{operation.hash, issue.operation}]++;
  issue.bytes = larger_side(issue.operation, operation.bytes, communicator.ranks);
  writer_.append(issue);
  ++written_;
}

std::uint64_t NvtxIssues::take_lost() {
  return std::exchange(lost_, 0);
}

}  // namespace lockstep::tracer::nccl

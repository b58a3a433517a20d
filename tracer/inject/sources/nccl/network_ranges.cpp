#include "tracer/inject/sources/nccl/network_ranges.h"

#include <algorithm>
#include <utility>

namespace lockstep::tracer::nccl {

namespace {

// What a proxy thread waits for, by the number that libnccl gives the state. Those of before v4 are of whole
// operations, which the steps tell better.
const char* name_of_state(std::int32_t state) {
  switch (state) {
    case 8:
      return "waits for the GPU (send)";
    case 9:
      return "waits for the network (send)";
    case 10:
      return "waits for the network (receive)";
    case 11:
      return "waits for the flush (receive)";
    case 12:
      return "waits for the GPU (receive)";
    case 19:
      return "in progress";
    case 20:
      return "waits for the peer (send)";
    case 21:
      return "network update";
    default:
      return nullptr;
  }
}

}  // namespace

void NetworkRanges::add(Open& open, const char* key, std::int64_t value) {
  if (open.arguments.size() >= kMaxArguments) return;
  trace::Argument argument;
  argument.key = writer_.intern(key);
  argument.type = trace::ArgumentType::int64;
  argument.bits = static_cast<std::uint64_t>(value);
  open.arguments.push_back(argument);
}

void NetworkRanges::begin(std::uint32_t thread, const NetworkBeginRecord& record, trace::Nanoseconds time) {
  if (open_.size() >= kMaxOpen) {
    ++lost_;
    return;
  }
  Open open;
  open.thread = thread;
  open.range.lane = open.range.end_lane = lanes_.lane(thread);
  open.range.begin = time;
  open.range.domain = writer_.intern("NCCL proxy");
  open.range.nested = false;
  switch (record.kind) {
    case NetworkKind::operation:
      open.range.name = writer_.intern(record.is_send ? "proxy send" : "proxy receive");
      add(open, "channel", record.channel);
      add(open, "peer", record.peer);
      add(open, "steps", record.steps);
      add(open, "chunk bytes", record.chunk_bytes);
      // A proxy may serve another process of its node: then the parent's number is that process's.
      if (record.process != process_) add(open, "process", record.process);
      break;
    case NetworkKind::step:
      open.range.name = writer_.intern("proxy step");
      add(open, "step", record.number);
      break;
    case NetworkKind::transport:
      open.range.name = writer_.intern("network transport");
      add(open, "type", record.number);
      break;
  }
  add(open, "number", static_cast<std::int64_t>(record.handle));
  add(open, "parent", static_cast<std::int64_t>(record.parent));
  open_.insert_or_assign(record.handle, std::move(open));
}

// How long after the beginning each state was entered.
void NetworkRanges::state(const NetworkStateRecord& record, trace::Nanoseconds time) {
  const auto found = open_.find(record.handle);
  const char* const name = name_of_state(record.state);
  if (found == open_.end() || name == nullptr) return;
  add(found->second, name, time - found->second.range.begin);
  // Only the states of steps tell how much was moved.
  if (record.state == 9 || record.state == 11 || record.state == 12) {
    add(found->second, "bytes", static_cast<std::int64_t>(record.bytes));
  }
}

void NetworkRanges::end(std::uint32_t thread, const NetworkEndRecord& record, trace::Nanoseconds time) {
  const auto found = open_.find(record.handle);
  if (found == open_.end()) return;
  close(found->second, thread, time);
  open_.erase(found);
}

void NetworkRanges::close(Open& open, std::uint32_t thread, trace::Nanoseconds time) {
  open.range.end = std::max(open.range.begin, time);
  open.range.end_lane = lanes_.lane(thread);
  writer_.append(open.range, open.arguments);
}

void NetworkRanges::finish(trace::Nanoseconds now) {
  for (auto& [handle, open] : open_) close(open, open.thread, now);
  open_.clear();
}

std::uint64_t NetworkRanges::take_lost() {
  return std::exchange(lost_, 0);
}

}  // namespace lockstep::tracer::nccl

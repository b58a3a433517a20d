#include "tracer/inject/sources/pytorch/operations.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "trace/events/framework_issue.h"
#include "tracer/inject/control/open_collective.h"

namespace lockstep::tracer::pytorch {
namespace {

constexpr std::size_t kMaxDone = 65536;
// A message is noted as open once it has been under way for so long: a pipeline's are, for a while.
constexpr trace::Nanoseconds kLongForAMessage = 1'000'000'000;

bool is_message(const CallRecord& record) {
  return record.operation == trace::Operation::send || record.operation == trace::Operation::recv;
}

}  // namespace

void Operations::group(const std::byte* body, std::uint32_t bytes) {
  GroupRecord record;
  if (bytes < sizeof record) return;
  std::memcpy(&record, body, sizeof record);
  const std::size_t texts = std::size_t{record.name_bytes} + record.description_bytes;
  if (bytes < sizeof record + texts + std::size_t{record.run_count} * sizeof(RankRun)) return;
  const auto* text = reinterpret_cast<const char*>(body + sizeof record);
  trace::Group group;
  group.name.assign(text, record.name_bytes);
  group.description.assign(text + record.name_bytes, record.description_bytes);
  for (std::uint32_t i = 0; i < record.run_count; ++i) {
    RankRun run;
    std::memcpy(&run, body + sizeof record + texts + i * sizeof run, sizeof run);
    for (std::int32_t k = 0; k < run.count; ++k) group.ranks.push_back(run.first + k * run.stride);
  }
  Group& known = groups_[record.backend];
  known.ranks = group.ranks;
  std::sort(group.ranks.begin(), group.ranks.end());
  known.id = writer_.add_group(group);
}

void Operations::call(const CallRecord& record, trace::LaneId host, trace::Nanoseconds begin,
                      trace::Nanoseconds end) {
  writer_.append(trace::ApiCall{host, begin, end, writer_.intern(to_string(record.operation)), record.call});
  if (record.on_device != 0) {
    issue(record, host, begin, end);
    return;
  }
  Operation operation;
  operation.known = true;
  operation.record = record;
  operation.host = host;
  operation.call_begin = begin;
  operation.call_end = end;
  if (record.message != 0) {
    start_message(operation);
    return;
  }
  if (record.works == 0) {
    // Carried out within the call: of one rank alone, for instance.
    write(record, free_lane(begin, end), begin, end);
    operations_.erase(record.call);
    return;
  }
  Operation& known = operations_[record.call];
  known.known = true;
  known.record = record;
  known.call_begin = begin;
  known.call_end = end;
  finish_if_complete(record.call);
}

// The call launches the kernel that carries it out.
void Operations::issue(const CallRecord& record, trace::LaneId host, trace::Nanoseconds begin,
                       trace::Nanoseconds end) {
  trace::CollectiveIssue event;
  event.lane = host;
  event.begin = begin;
  event.end = end;
  event.name = writer_.intern(std::string(trace::kFrameworkIssuePrefix) + to_string(record.operation));
  event.operation = record.operation;
  event.sequence = is_message(record) ? trace::kNoSequence : record.sequence;
  event.bytes = record.bytes;
  event.data_type = record.data_type;
  event.peer = record.peer;
  const auto group = groups_.find(record.backend);
  if (group != groups_.end()) event.group = group->second.id;
  writer_.append(event);
}

void Operations::enqueue(const WorkRecord& record) {
  if (record.call == 0) {
    works_.erase(record.work);
    return;
  }
  works_[record.work] = record.call;
  operations_[record.call];
}

void Operations::begin(const WorkRecord& record, trace::LaneId communication, trace::LaneId host,
                       trace::Nanoseconds time) {
  const auto work = works_.find(record.work);
  if (work == works_.end()) {
    ++unknown_works_;
    return;
  }
  Operation& operation = operations_[work->second];
  if (operation.begun) return;
  operation.begun = true;
  operation.lane = communication;
  operation.host = host;
  operation.begin = time;
}

void Operations::end(const WorkRecord& record, trace::Nanoseconds time) {
  const auto work = works_.find(record.work);
  if (work == works_.end()) return;
  const std::uint64_t call = work->second;
  works_.erase(work);
  Operation& operation = operations_[call];
  ++operation.ended;
  operation.end = std::max(operation.end, time);
  finish_if_complete(call);
}

void Operations::finish_if_complete(std::uint64_t call) {
  const auto found = operations_.find(call);
  if (found == operations_.end()) return;
  const Operation& operation = found->second;
  if (!operation.known || !operation.begun || operation.ended < operation.record.works) return;
  if (operation.noted) close_noted(operation, operation.begin, operation.end);
  write(operation.record, operation.lane, operation.begin, operation.end);
  operations_.erase(found);
}

// It was so long that it had been noted as an open range: that one ends.
void Operations::close_noted(const Operation& operation, trace::Nanoseconds begin, trace::Nanoseconds end) {
  trace::HostRange range;
  range.lane = range.end_lane = operation.host;
  range.begin = begin;
  range.end = end;
  range.name = writer_.intern(to_string(operation.record.operation));
  range.domain = writer_.intern("lockstep");
  range.nested = false;
  writer_.append(range, arguments(operation.record));
}

void Operations::start_message(const Operation& message) {
  const CallRecord& record = message.record;
  const auto done = done_messages_.find(record.call);
  if (done != done_messages_.end()) {
    write(record, free_lane(message.call_begin, done->second), message.call_begin, done->second);
    done_messages_.erase(done);
    return;
  }
  // Nobody waited for the one whose work was at this address.
  if (const auto before = messages_.find(record.message); before != messages_.end())
    end_message_at(record.message, before->second.call_end);
  messages_[record.message] = message;
  message_works_[record.call] = record.message;
}

void Operations::end_message_at(std::uint64_t work, trace::Nanoseconds end) {
  const auto found = messages_.find(work);
  const Operation& message = found->second;
  if (message.noted) close_noted(message, message.call_begin, end);
  write(message.record, free_lane(message.call_begin, end), message.call_begin, end);
  message_works_.erase(message.record.call);
  messages_.erase(found);
}

void Operations::end_message(const WorkRecord& record, trace::Nanoseconds time) {
  if (messages_.contains(record.work)) end_message_at(record.work, time);  // else it was over before
}

void Operations::message_done(const WorkRecord& record, trace::Nanoseconds time) {
  ends_are_told_ = true;
  if (const auto work = message_works_.find(record.call); work != message_works_.end()) {
    end_message_at(work->second, time);
    return;
  }
  // Within the call, which is noted when it returns. Calls whose records were lost leave theirs behind.
  if (done_messages_.size() >= kMaxDone) done_messages_.clear();
  done_messages_[record.call] = time;
}

void Operations::write(const CallRecord& record, trace::LaneId lane, trace::Nanoseconds begin,
                       trace::Nanoseconds end) {
  trace::Collective event = event_of(record);
  event.lane = lane;
  event.begin = begin;
  event.end = std::max(begin, end);
  writer_.append(event);
}

trace::Collective Operations::event_of(const CallRecord& record) {
  trace::Collective event;
  event.name = writer_.intern(to_string(record.operation));
  event.operation = record.operation;
  event.sequence = record.sequence;
  event.bytes = record.bytes;
  event.data_type = record.data_type;
  event.peer = global_rank(record);
  event.correlation = record.call;
  const auto group = groups_.find(record.backend);
  if (group != groups_.end()) event.group = group->second.id;
  return event;
}

std::int32_t Operations::global_rank(const CallRecord& record) const {
  const auto group = groups_.find(record.backend);
  if (record.peer < 0 || group == groups_.end()) return trace::kNoRank;
  const auto& ranks = group->second.ranks;
  return static_cast<std::size_t>(record.peer) < ranks.size() ? ranks[static_cast<std::size_t>(record.peer)]
                                                              : trace::kNoRank;
}

trace::LaneId Operations::free_lane(trace::Nanoseconds begin, trace::Nanoseconds end) {
  for (ExtraLane& extra : extra_lanes_) {
    if (extra.busy_until > begin) continue;
    extra.busy_until = end;
    return extra.lane;
  }
  trace::Lane lane;
  lane.kind = trace::LaneKind::communication;
  lane.process = process_;
  lane.handle = extra_lanes_.size() + 1;
  lane.name = "messages " + std::to_string(extra_lanes_.size() + 1);
  extra_lanes_.push_back({writer_.add_lane(lane), end});
  return extra_lanes_.back().lane;
}

std::vector<trace::Argument> Operations::arguments(const CallRecord& record) {
  const auto argument = [this](std::string_view key, std::int64_t value) {
    trace::Argument made;
    made.key = writer_.intern(key);
    made.bits = static_cast<std::uint64_t>(value);
    return made;
  };
  const auto group = groups_.find(record.backend);
  return {argument("group", group != groups_.end() ? std::int64_t{group->second.id} : -1),
          argument("sequence", record.sequence),
          argument("bytes", static_cast<std::int64_t>(record.bytes)),
          argument("operation", static_cast<std::int64_t>(record.operation)),
          argument("data_type", static_cast<std::int64_t>(record.data_type)),
          argument("peer", global_rank(record))};
}

void Operations::note_open(trace::Nanoseconds horizon) {
  for (auto& [call, operation] : operations_) {
    if (operation.noted || !operation.known || !operation.begun || operation.begin >= horizon) continue;
    note_open(operation, operation.begin);
  }
  for (auto& [work, message] : messages_) {
    // What is sent and never waited for seems under way for ever, where nobody tells when it ended.
    const bool is_told = message.record.operation == trace::Operation::recv || ends_are_told_;
    if (message.noted || !is_told || horizon - kLongForAMessage <= message.call_begin) continue;
    note_open(message, message.call_begin);
  }
}

void Operations::note_open(Operation& operation, trace::Nanoseconds begin) {
  operation.noted = true;
  trace::OpenRange range;
  range.lane = operation.host;
  range.begin = begin;
  range.name = writer_.intern(to_string(operation.record.operation));
  range.domain = writer_.intern("lockstep");
  range.nested = false;
  control::append_open_collective(writer_, range, {}, event_of(operation.record));
}

void Operations::finish() {
  for (const auto& [work, message] : messages_) {
    if (message.noted) continue;  // it is known to have been under way for long, and not to have ended
    write(message.record, free_lane(message.call_begin, message.call_end), message.call_begin,
          message.call_end);
  }
  messages_.clear();
  message_works_.clear();
}

std::uint64_t Operations::take_unknown_works() {
  return std::exchange(unknown_works_, 0);
}

}  // namespace lockstep::tracer::pytorch

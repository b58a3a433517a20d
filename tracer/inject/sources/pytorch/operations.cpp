#include "tracer/inject/sources/pytorch/operations.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "trace/events/framework_issue.h"
#include "tracer/inject/control/open_collective.h"

namespace lockstep::tracer::pytorch {
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

std::optional<trace::Nanoseconds> Operations::call(const CallRecord& record, trace::LaneId host,
                                                   trace::Nanoseconds begin, trace::Nanoseconds end) {
  writer_.append(trace::ApiCall{host, begin, end, writer_.intern(to_string(record.operation)), record.call});
  if (record.ends == Ends::on_device) {
    forget_before(record.work, begin);
    issue(record, trace::kFrameworkIssuePrefix, host, begin, end);
    return std::nullopt;
  }
  Operation operation;
  operation.known = true;
  operation.record = record;
  operation.host = host;
  operation.call_begin = begin;
  operation.call_end = end;
  if (record.work != 0) {
    start(operation);
    return std::nullopt;
  }
  // No work: part of a batch, which another call carries out.
  if (record.ends != Ends::queued) return std::nullopt;
  if (record.works == 0) {
    // Carried out within the call: of one rank alone, for instance.
    write(record, free_lane(record, begin, end), begin, end);
    operations_.erase(record.call);
    return std::nullopt;
  }
  Operation& known = operations_[record.call];
  known.known = true;
  known.record = record;
  known.call_begin = begin;
  known.call_end = end;
  const auto began = known.begun ? std::optional(known.begin) : std::nullopt;
  finish_if_complete(record.call);
  return began;
}

void Operations::issue(const CallRecord& record, std::string_view prefix, trace::LaneId host,
                       trace::Nanoseconds begin, trace::Nanoseconds end) {
  trace::CollectiveIssue event;
  event.lane = host;
  event.begin = begin;
  event.end = end;
  event.name = writer_.intern(std::string(prefix) + to_string(record.operation));
  event.operation = record.operation;
  event.sequence = is_message(record) ? trace::kNoSequence : record.sequence;
  event.bytes = record.bytes != trace::kUnknownBytes ? record.bytes : 0;
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
  Operation& operation = found->second;
  if (!operation.known || !operation.begun || operation.ended < operation.record.works) return;
  close_noted(operation, operation.end);
  write(operation.record, operation.lane, operation.begin, operation.end);
  operations_.erase(found);
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

trace::LaneId Operations::free_lane(const CallRecord& record, trace::Nanoseconds begin,
                                    trace::Nanoseconds end) {
  const bool messages = is_message(record);
  std::size_t alike = 0;
  for (ExtraLane& extra : extra_lanes_) {
    if (extra.messages != messages) continue;
    ++alike;
    if (extra.busy_until > begin) continue;
    extra.busy_until = end;
    return extra.lane;
  }
  trace::Lane lane;
  lane.kind = trace::LaneKind::communication;
  lane.process = process_;
  lane.handle = extra_lanes_.size() + 1;
  lane.name = (messages ? "messages " : "collectives ") + std::to_string(alike + 1);
  extra_lanes_.push_back({writer_.add_lane(lane), end, messages});
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
  std::vector<trace::Argument> made{
      argument("group", group != groups_.end() ? std::int64_t{group->second.id} : -1),
      argument("sequence", record.sequence),
      argument("operation", static_cast<std::int64_t>(record.operation)),
      argument("data_type", static_cast<std::int64_t>(record.data_type)),
      argument("peer", global_rank(record))};
  if (record.bytes != trace::kUnknownBytes)
    made.push_back(argument("bytes", static_cast<std::int64_t>(record.bytes)));
  return made;
}

void Operations::note_open(trace::Nanoseconds horizon) {
  for (auto& [call, operation] : operations_) {
    if (operation.noted || !operation.known || !operation.begun || operation.begin >= horizon) continue;
    note_open(operation, operation.begin);
  }
  note_open_issued(horizon);
}

void Operations::note_open(Operation& operation, trace::Nanoseconds begin) {
  operation.noted = begin;
  trace::OpenRange range;
  range.lane = operation.host;
  range.begin = begin;
  range.name = writer_.intern(to_string(operation.record.operation));
  range.domain = writer_.intern("lockstep");
  range.nested = false;
  control::append_open_collective(writer_, range, {}, event_of(operation.record));
}

// It was so long that it had been noted as an open range: that one ends. Readers know it by its begin.
void Operations::close_noted(Operation& operation, trace::Nanoseconds end) {
  if (!operation.noted) return;
  trace::HostRange range;
  range.lane = range.end_lane = operation.host;
  range.begin = *operation.noted;
  range.end = std::max(range.begin, end);
  range.name = writer_.intern(to_string(operation.record.operation));
  range.domain = writer_.intern("lockstep");
  range.nested = false;
  writer_.append(range, arguments(operation.record));
  operation.noted.reset();
}

std::uint64_t Operations::take_unknown_works() {
  return std::exchange(unknown_works_, 0);
}

}  // namespace lockstep::tracer::pytorch

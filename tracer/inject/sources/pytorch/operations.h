// Joins what the program's threads hand to process groups with what the groups' threads carry out, into the
// collectives and messages of a trace. Takes its records in the order of their times.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/events/event.h"
#include "trace/writer.h"
#include "tracer/inject/sources/pytorch/records.h"

namespace lockstep::tracer::pytorch {

class Operations {
 public:
  Operations(trace::Writer& writer, std::uint64_t process) : writer_(writer), process_(process) {}

  // `body` is the record and its texts; one that is cut short is ignored.
  void group(const std::byte* body, std::uint32_t bytes);
  // `host` is the lane of the thread that called, `begin` and `end` the call.
  void call(const CallRecord& record, trace::LaneId host, trace::Nanoseconds begin, trace::Nanoseconds end);
  void enqueue(const WorkRecord& record);
  // `communication` is the lane of the thread that carries it out, `host` that of its ranges.
  void begin(const WorkRecord& record, trace::LaneId communication, trace::LaneId host,
             trace::Nanoseconds time);
  void end(const WorkRecord& record, trace::Nanoseconds time);
  // The message was waited for.
  void end_message(const WorkRecord& record, trace::Nanoseconds time);
  // It was carried out: that is its end, whoever waits for it and when.
  void message_done(const WorkRecord& record, trace::Nanoseconds time);

  // Writes what began before `horizon` and still runs as open ranges, each once.
  void note_open(trace::Nanoseconds horizon);
  // Nothing more comes: messages that nobody waited for are written with the interval of their call.
  void finish();
  // Works that belong to no call that was seen, since the last time.
  std::uint64_t take_unknown_works();

 private:
  struct Group {
    trace::GroupId id = trace::kNoGroup;
    std::vector<std::int32_t> ranks;
  };
  struct Operation {
    bool known = false;  // the call's record has come
    CallRecord record;
    trace::Nanoseconds call_begin = 0;
    trace::Nanoseconds call_end = 0;
    std::uint32_t ended = 0;
    bool begun = false;
    bool noted = false;
    trace::LaneId lane = 0;
    trace::LaneId host = 0;
    trace::Nanoseconds begin = 0;
    trace::Nanoseconds end = 0;
  };
  struct ExtraLane {
    trace::LaneId lane = 0;
    trace::Nanoseconds busy_until = 0;
  };

  void issue(const CallRecord& record, trace::LaneId host, trace::Nanoseconds begin, trace::Nanoseconds end);
  void finish_if_complete(std::uint64_t call);
  void close_noted(const Operation& operation, trace::Nanoseconds begin, trace::Nanoseconds end);
  void note_open(Operation& operation, trace::Nanoseconds begin);
  void start_message(const Operation& message);
  void end_message_at(std::uint64_t work, trace::Nanoseconds end);
  void write(const CallRecord& record, trace::LaneId lane, trace::Nanoseconds begin, trace::Nanoseconds end);
  trace::Collective event_of(const CallRecord& record);
  // Messages overlap one another: each goes to a lane that is free.
  trace::LaneId free_lane(trace::Nanoseconds begin, trace::Nanoseconds end);
  std::vector<trace::Argument> arguments(const CallRecord& record);
  std::int32_t global_rank(const CallRecord& record) const;

  trace::Writer& writer_;
  std::uint64_t process_;
  std::unordered_map<std::uint64_t, Group> groups_;                      // by backend
  std::map<std::uint64_t, Operation> operations_;                        // by call, until they end
  std::unordered_map<std::uint64_t, std::uint64_t> works_;               // work -> call, until it ends
  std::unordered_map<std::uint64_t, Operation> messages_;                // by work, until it was waited for
  std::unordered_map<std::uint64_t, std::uint64_t> message_works_;       // call -> work, as in messages_
  std::unordered_map<std::uint64_t, trace::Nanoseconds> done_messages_;  // by call, whose record is to come
  bool ends_are_told_ = false;  // a message was said to have ended before anybody waited for it
  std::vector<ExtraLane> extra_lanes_;
  std::uint64_t unknown_works_ = 0;
};

}  // namespace lockstep::tracer::pytorch

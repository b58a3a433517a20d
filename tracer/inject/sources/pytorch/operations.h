// Joins what the program's threads hand to process groups with what the groups' threads carry out, into the
// collectives and messages of a trace. Takes its records in the order of their times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/events/event.h"
#include "trace/writer.h"
#include "tracer/inject/sources/pytorch/records.h"

namespace lockstep::tracer::pytorch {

// The last operation that a thread handed to a group.
struct Called {
  trace::Nanoseconds returned = 0;          // its call
  std::optional<trace::Nanoseconds> began;  // a thread of the group to carry it out, by then

  // Who waits for it at once (a call without async_op) computes nothing from when a thread of the group has
  // it: the call may last long after that, where there are fewer cores than threads.
  trace::Nanoseconds computed_until(trace::Nanoseconds wait_begin) const {
    constexpr trace::Nanoseconds kAtOnce = 100'000;
    return began && wait_begin - returned <= kAtOnce ? std::min(*began, wait_begin) : wait_begin;
  }
};

class Operations {
 public:
  Operations(trace::Writer& writer, std::uint64_t process) : writer_(writer), process_(process) {}

  // `body` is the record and its texts; one that is cut short is ignored.
  void group(const std::byte* body, std::uint32_t bytes);
  // `host` is the lane of the thread that called, `begin` and `end` the call. Returns when a thread of the
  // group began to carry it out, where one has by its end.
  std::optional<trace::Nanoseconds> call(const CallRecord& record, trace::LaneId host,
                                         trace::Nanoseconds begin, trace::Nanoseconds end);
  void enqueue(const WorkRecord& record);
  // `communication` is the lane of the thread that carries it out, `host` that of its ranges.
  void begin(const WorkRecord& record, trace::LaneId communication, trace::LaneId host,
             trace::Nanoseconds time);
  void end(const WorkRecord& record, trace::Nanoseconds time);
  // The message, or collective of a backend that tells nobody else, was waited for.
  void end_message(const WorkRecord& record, trace::Nanoseconds time);
  // A thread begins to wait for it, and has waited for it: then it is over.
  void wait_began(std::uint32_t thread, const WorkRecord& record);
  void wait_ended(std::uint32_t thread, const WorkRecord& record, trace::Nanoseconds time);
  // The thread does something else. True: it was in a wait, which ended by an exception.
  bool left_wait(std::uint32_t thread, trace::Nanoseconds time);
  // The group's thread has carried it out (Ends::finished); `communication` is the thread's lane.
  void finished(const WorkRecord& record, trace::LaneId communication, trace::Nanoseconds time);
  // It was carried out: that is its end, whoever waits for it and when.
  void message_done(const WorkRecord& record, trace::Nanoseconds time);

  // Writes what began before `horizon` and still runs as open ranges, each once.
  void note_open(trace::Nanoseconds horizon);
  // Nothing more comes: messages that nobody waited for are written with the interval of their call; of
  // collectives only that they were issued.
  void finish();
  // Works that belong to no call that was seen, since the last time.
  std::uint64_t take_unknown_works();
  // Whether a collective has no interval, as nothing told when it ended.
  bool has_lost_ends() const { return lost_ends_; }

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
    std::optional<trace::Nanoseconds> noted;  // the begin with which it was noted as an open range
    bool told = false;                        // that it was issued
    std::uint32_t waiting = 0;                // threads that wait for it
    trace::Nanoseconds left = 0;              // when the last of them left a wait, which did not end it
    trace::LaneId lane = 0;
    trace::LaneId host = 0;
    trace::Nanoseconds begin = 0;
    trace::Nanoseconds end = 0;
  };
  struct ExtraLane {
    trace::LaneId lane = 0;
    trace::Nanoseconds busy_until = 0;
    bool messages = false;  // else of collectives
  };
  struct Waiting {
    std::uint64_t work = 0;
    std::uint64_t call = 0;  // 0: of none that is known
  };

  // What is known of it is that it was handed over.
  void issue(const CallRecord& record, std::string_view prefix, trace::LaneId host, trace::Nanoseconds begin,
             trace::Nanoseconds end);
  void finish_if_complete(std::uint64_t call);
  void close_noted(Operation& operation, trace::Nanoseconds end);
  void note_open(Operation& operation, trace::Nanoseconds begin);
  struct Finish {
    trace::LaneId lane = 0;
    trace::Nanoseconds time = 0;
  };
  void start(Operation issued);
  void forget_before(std::uint64_t work, trace::Nanoseconds time);
  void end_at(std::uint64_t work, trace::Nanoseconds end);
  void end_unwaited(Operation& issued, trace::Nanoseconds time);
  void tell_issued(Operation& issued);
  void finish_collective(Operation& issued, const Finish& finish);
  void retire_before(const Operation& over);
  trace::Nanoseconds begin_of(const Operation& issued) const;
  void note_open_issued(trace::Nanoseconds horizon);
  void write(const CallRecord& record, trace::LaneId lane, trace::Nanoseconds begin, trace::Nanoseconds end);
  trace::Collective event_of(const CallRecord& record);
  static bool is_message(const CallRecord& record) {
    return record.operation == trace::Operation::send || record.operation == trace::Operation::recv;
  }
  // They overlap one another: each goes to a lane that is free, messages to others than collectives.
  trace::LaneId free_lane(const CallRecord& record, trace::Nanoseconds begin, trace::Nanoseconds end);
  std::vector<trace::Argument> arguments(const CallRecord& record);
  std::int32_t global_rank(const CallRecord& record) const;

  trace::Writer& writer_;
  std::uint64_t process_;
  std::unordered_map<std::uint64_t, Group> groups_;                      // by backend
  std::map<std::uint64_t, Operation> operations_;                        // by call, until they end
  std::unordered_map<std::uint64_t, std::uint64_t> works_;               // work -> call, until it ends
  std::unordered_map<std::uint64_t, Operation> issued_;                  // by work, until its end is told
  std::unordered_map<std::uint64_t, std::uint64_t> message_works_;       // call -> work, as in issued_
  std::unordered_map<std::uint64_t, trace::Nanoseconds> done_messages_;  // by call, whose record is to come
  std::unordered_map<std::uint64_t, Finish> finished_;                   // by work, whose call is to come
  std::unordered_map<std::uint64_t, Finish> last_finished_;              // by backend (Ends::finished)
  std::unordered_map<std::uint32_t, Waiting> waiting_;                   // by thread, while it waits
  bool lost_ends_ = false;
  bool ends_are_told_ = false;  // a message was said to have ended before anybody waited for it
  std::vector<ExtraLane> extra_lanes_;
  std::uint64_t unknown_works_ = 0;
};

}  // namespace lockstep::tracer::pytorch

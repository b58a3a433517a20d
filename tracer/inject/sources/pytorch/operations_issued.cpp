// Operations whose end somebody tells by their work's address: MPI's thread, whoever waits, or Gloo's
// buffers.
#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "trace/events/framework_issue.h"
#include "tracer/inject/sources/pytorch/operations.h"

namespace lockstep::tracer::pytorch {
namespace {

constexpr std::size_t kMaxDone = 65536;
// A message is noted as open once it has been under way for so long: a pipeline's are, for a while.
constexpr trace::Nanoseconds kLongForAMessage = 1'000'000'000;

}  // namespace

void Operations::start(Operation issued) {
  const CallRecord& record = issued.record;
  if (const auto done = done_messages_.find(record.call); done != done_messages_.end()) {
    write(record, free_lane(record, issued.call_begin, done->second), issued.call_begin, done->second);
    done_messages_.erase(done);
    return;
  }
  forget_before(record.work, issued.call_begin);
  if (const auto early = finished_.find(record.work); early != finished_.end()) {
    const Finish finish = early->second;
    finished_.erase(early);
    // Else it is of a work at the same address, whose call was lost.
    if (record.ends == Ends::finished && finish.time >= issued.call_begin)
      return finish_collective(issued, finish);
  }
  message_works_[record.call] = record.work;
  issued_[record.work] = std::move(issued);
}

// A work at this address is new: the one that was there is gone, though nothing told of its end.
void Operations::forget_before(std::uint64_t work, trace::Nanoseconds time) {
  const auto before = issued_.find(work);
  if (before == issued_.end()) return;
  message_works_.erase(before->second.record.call);
  end_unwaited(before->second, time);
  issued_.erase(before);
}

// Nothing told of its end, and nothing will; it was over before `time`.
void Operations::end_unwaited(Operation& issued, trace::Nanoseconds time) {
  const CallRecord& record = issued.record;
  if (!is_message(record)) {
    lost_ends_ = lost_ends_ || record.ends == Ends::waited;
    close_noted(issued, time);
    tell_issued(issued);
    return;
  }
  // Messages are matched by their order: none may be left out.
  close_noted(issued, issued.call_end);
  write(record, free_lane(record, issued.call_begin, issued.call_end), issued.call_begin, issued.call_end);
}

// That the rank came to it is told where an interval is not: else it would seem to be missing.
void Operations::tell_issued(Operation& issued) {
  if (std::exchange(issued.told, true)) return;
  issue(issued.record, trace::kEndUnknownPrefix, issued.host, issued.call_begin, issued.call_end);
}

void Operations::end_at(std::uint64_t work, trace::Nanoseconds end) {
  const auto found = issued_.find(work);
  Operation issued = std::move(found->second);
  message_works_.erase(issued.record.call);
  issued_.erase(found);
  const trace::Nanoseconds begin = std::min(begin_of(issued), end);
  if (issued.record.ends != Ends::finished) {
    close_noted(issued, end);
    write(issued.record, free_lane(issued.record, begin, end), begin, end);
    return;
  }
  // The record of its group's thread was lost.
  const auto last = last_finished_.find(issued.record.backend);
  const trace::LaneId lane =
      last != last_finished_.end() ? last->second.lane : free_lane(issued.record, begin, end);
  finish_collective(issued, {lane, end});
}

void Operations::end_message(const WorkRecord& record, trace::Nanoseconds time) {
  if (issued_.contains(record.work)) end_at(record.work, time);  // else it was over before
}

void Operations::wait_began(std::uint32_t thread, const WorkRecord& record) {
  if (record.work == 0) return;
  Waiting& waiting = waiting_[thread];
  waiting = {record.work, 0};
  const auto found = issued_.find(record.work);
  if (found == issued_.end()) return;
  waiting.call = found->second.record.call;
  ++found->second.waiting;
}

void Operations::wait_ended(std::uint32_t thread, const WorkRecord& record, trace::Nanoseconds time) {
  waiting_.erase(thread);
  end_message(record, time);
  if (record.work != 0) end(record, time);
}

bool Operations::left_wait(std::uint32_t thread, trace::Nanoseconds time) {
  if (waiting_.empty()) return false;
  const auto left = waiting_.find(thread);
  if (left == waiting_.end()) return false;
  const Waiting was = left->second;
  waiting_.erase(left);
  const auto found = issued_.find(was.work);
  if (found == issued_.end() || found->second.record.call != was.call) return true;
  Operation& issued = found->second;
  --issued.waiting;
  // What others tell of is still under way; of the rest nobody knows.
  if (issued.waiting > 0 || issued.record.ends != Ends::waited) return true;
  if (issued.record.operation == trace::Operation::recv) return true;
  close_noted(issued, time);
  issued.left = time;
  return true;
}

void Operations::finished(const WorkRecord& record, trace::LaneId communication, trace::Nanoseconds time) {
  const auto found = issued_.find(record.work);
  if (found == issued_.end()) {
    // Within the call, which is noted when it returns. Calls whose records were lost leave theirs behind.
    if (finished_.size() >= kMaxDone) finished_.clear();
    finished_[record.work] = {communication, time};
    return;
  }
  Operation issued = std::move(found->second);
  message_works_.erase(issued.record.call);
  issued_.erase(found);
  finish_collective(issued, {communication, time});
}

void Operations::finish_collective(Operation& issued, const Finish& finish) {
  retire_before(issued);
  const trace::Nanoseconds begin = std::min(begin_of(issued), finish.time);
  close_noted(issued, finish.time);
  write(issued.record, finish.lane, begin, finish.time);
  Finish& last = last_finished_[issued.record.backend];
  last = {finish.lane, std::max(last.time, finish.time)};
}

// The group's thread keeps their order: those issued before this one are over, though their records were
// lost.
void Operations::retire_before(const Operation& over) {
  for (auto entry = issued_.begin(); entry != issued_.end();) {
    Operation& other = entry->second;
    const bool before = other.record.ends == Ends::finished && other.record.backend == over.record.backend &&
                        other.call_end <= over.call_begin;
    if (before) {
      message_works_.erase(other.record.call);
      end_unwaited(other, over.call_begin);
    }
    entry = before ? issued_.erase(entry) : std::next(entry);
  }
}

// A group's one thread begins with a collective when it is done with the one before.
trace::Nanoseconds Operations::begin_of(const Operation& issued) const {
  const auto last = last_finished_.find(issued.record.backend);
  return issued.record.ends == Ends::finished && last != last_finished_.end()
             ? std::max(issued.call_begin, last->second.time)
             : issued.call_begin;
}

void Operations::message_done(const WorkRecord& record, trace::Nanoseconds time) {
  ends_are_told_ = true;
  if (const auto work = message_works_.find(record.call); work != message_works_.end()) {
    end_at(work->second, time);
    return;
  }
  // Within the call, which is noted when it returns. Calls whose records were lost leave theirs behind.
  if (done_messages_.size() >= kMaxDone) done_messages_.clear();
  done_messages_[record.call] = time;
}

void Operations::note_open_issued(trace::Nanoseconds horizon) {
  std::unordered_map<std::uint64_t, std::uint64_t> first;  // backend -> call that its thread carries out
  for (const auto& [work, issued] : issued_) {
    if (issued.record.ends != Ends::finished) continue;
    const auto [where, fresh] = first.try_emplace(issued.record.backend, issued.record.call);
    if (!fresh) where->second = std::min(where->second, issued.record.call);
  }
  for (auto& [work, issued] : issued_) {
    const CallRecord& record = issued.record;
    const trace::Nanoseconds begin = std::max(begin_of(issued), issued.left);
    if (issued.noted || horizon - kLongForAMessage <= begin) continue;
    // What is not waited for seems under way for ever, where nobody else tells when it ended.
    const bool others_tell = record.ends == Ends::finished ? first[record.backend] == record.call
                                                           : record.ends == Ends::queued && ends_are_told_;
    if (record.operation == trace::Operation::recv || issued.waiting > 0 || others_tell) {
      note_open(issued, begin);
    } else if (!is_message(record)) {
      tell_issued(issued);
    }
  }
}

void Operations::finish() {
  for (auto& [work, issued] : issued_) {
    if (!issued.noted)
      end_unwaited(issued, issued.call_end);  // else it was under way for long, and did not end
  }
  issued_.clear();
  message_works_.clear();
  waiting_.clear();
}

}  // namespace lockstep::tracer::pytorch

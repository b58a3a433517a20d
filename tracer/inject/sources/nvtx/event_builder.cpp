#include "tracer/inject/sources/nvtx/event_builder.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "tracer/inject/control/gate.h"
#include "tracer/inject/control/open_collective.h"
#include "tracer/inject/control/steps.h"
#include "tracer/inject/core/source.h"
#include "tracer/inject/core/training_threads.h"

namespace lockstep::tracer::nvtx {

namespace {

constexpr std::size_t kMaxWaiting = 65536;

// A range that becomes something else than a HostRange.
bool replaces_host_range(Meaning meaning) {
  return meaning == Meaning::compute || meaning == Meaning::issue || meaning == Meaning::collective;
}

std::uint16_t depth_of(std::size_t open_ranges) {
  return static_cast<std::uint16_t>(
      std::min<std::size_t>(open_ranges, std::numeric_limits<std::uint16_t>::max()));
}

trace::HostRange host_range(trace::LaneId lane, trace::Nanoseconds begin, trace::Nanoseconds end,
                            const Details& details) {
  trace::HostRange range;
  range.lane = lane;
  range.end_lane = lane;
  range.begin = begin;
  range.end = std::max(begin, end);
  range.name = details.name;
  range.domain = details.domain;
  range.category = details.category;
  range.color = details.color;
  return range;
}

trace::OpenRange open_range(trace::LaneId lane, trace::Nanoseconds begin, const Details& details) {
  trace::OpenRange range;
  range.lane = lane;
  range.begin = begin;
  range.name = details.name;
  range.domain = details.domain;
  range.category = details.category;
  range.color = details.color;
  return range;
}

// What an end says replaces what the start said; its payload is added.
void amend(Details& details, Details&& end) {
  if (end.name != 0) details.name = end.name;
  if (end.category != 0) details.category = end.category;
  if (end.color != 0) details.color = end.color;
  details.arguments.insert(details.arguments.end(), end.arguments.begin(), end.arguments.end());
}

}  // namespace

void Details::clear() {
  name = domain = category = 0;
  color = 0;
  arguments.clear();
  meaning = Meaning::none;
  is_counter = false;
}

EventBuilder::EventBuilder(trace::Writer& writer, Registry& registry, std::uint64_t process,
                           HostLanes* host_lanes)
    : writer_(writer), registry_(registry), process_(process), host_lanes_(host_lanes) {}

EventBuilder::Thread& EventBuilder::add_thread(std::uint32_t id, std::string_view system_name) {
  std::string name;
  if (!registry_.thread_name(id, name)) {
    name = id == process_        ? "main"
           : system_name.empty() ? "thread " + std::to_string(id)
                                 : std::string(system_name);
  }
  return threads_.emplace_back(id, std::move(name));
}

void EventBuilder::consume(Thread& thread, const std::byte* record, trace::Nanoseconds time) {
  RecordHeader header;
  std::memcpy(&header, record, sizeof header);
  switch (header.kind) {
    case RecordKind::push:
      return push(thread, header, record, time);
    case RecordKind::pop:
      return pop(thread, header, record, time);
    case RecordKind::start:
      return start(thread, header, record, time);
    case RecordKind::end:
      return end(thread, header, record, time);
    case RecordKind::mark:
      return mark(thread, header, record, time);
    case RecordKind::padding:
    case RecordKind::source:
      return;
  }
}

bool EventBuilder::consume_leaf(Thread& thread, const std::byte* push, trace::Nanoseconds begin,
                                trace::Nanoseconds end) {
  RecordHeader header;
  std::memcpy(&header, push, sizeof header);
  if ((header.flags & ~record_flags::kRegistered) != 0) return false;
  const Domain& where = domain(header.domain);
  if (where.is_instrumentation || where.listener != nullptr) return false;
  trace::HostRange range;
  range.lane = range.end_lane = lane(thread, trace::LaneKind::host_thread);
  range.begin = begin;
  range.end = std::max(begin, end);
  range.domain = where.name;
  range.depth = depth_of(thread.open_host_ranges_);
  if (header.flags != 0) {
    std::uint64_t handle = 0;
    std::memcpy(&handle, push + sizeof header, sizeof handle);
    range.name = registered(handle);
  } else if (header.message_bytes != 0) {
    range.name = name_of(push + sizeof header, header.message_bytes);
  }
  writer_.append(range);
  return true;
}

void EventBuilder::push(Thread& thread, const RecordHeader& header, const std::byte* record,
                        trace::Nanoseconds time) {
  if (thread.open_count_ == thread.open_.size()) thread.open_.emplace_back();
  OpenPush& open = thread.open_[thread.open_count_++];
  open.domain = header.domain;
  open.depth = depth_of(thread.open_host_ranges_);
  open.noted = false;
  open.begin = time;
  open.details.clear();
  read_details(header, record, open.details);
  if (!replaces_host_range(open.details.meaning)) ++thread.open_host_ranges_;
  // Where the gate is simply open, nobody looked at the payload when the call was made.
  if (open.details.meaning == Meaning::step && control::gate_word() == 0)
    control::note_step(open.details.fields.step);
}

void EventBuilder::pop(Thread& thread, const RecordHeader& header, const std::byte* record,
                       trace::Nanoseconds time) {
  // Stacks are per domain; ranges of different domains usually nest too, but needn't.
  std::size_t index = thread.open_count_;
  while (index > 0 && thread.open_[index - 1].domain != header.domain) --index;
  if (index == 0) return;  // the hot path lets no pop without a push through
  OpenPush& open = thread.open_[index - 1];
  if (header.flags != 0) {
    details_.clear();
    read_details(header, record, details_);
    amend(open.details, std::move(details_));
  }
  write_pushed(thread, open, index == thread.open_count_, time);
  if (!replaces_host_range(open.details.meaning)) --thread.open_host_ranges_;
  std::rotate(thread.open_.begin() + static_cast<std::ptrdiff_t>(index - 1),
              thread.open_.begin() + static_cast<std::ptrdiff_t>(index),
              thread.open_.begin() + static_cast<std::ptrdiff_t>(thread.open_count_));
  --thread.open_count_;
}

void EventBuilder::write_pushed(Thread& thread, OpenPush& open, bool nested, trace::Nanoseconds end) {
  const Details& details = open.details;
  const trace::LaneId host = lane(thread, trace::LaneKind::host_thread);
  trace::HostRange range = host_range(host, open.begin, end, details);
  range.nested = nested;
  range.depth = nested ? open.depth : 0;
  if (!replaces_host_range(details.meaning)) {
    writer_.append(range, details.arguments);
    if (Source* const listener = domain(open.domain).listener; listener != nullptr) {
      listener->range(thread.id_, range, details.arguments);
    }
    if (details.meaning == Meaning::step) {
      note_training_thread(thread.id_);
      writer_.append(trace::Step{host, range.begin, range.end, details.fields.step});
    }
    return;
  }
  if (open.noted) {
    // It was so long that it had been noted as an open range: close that one.
    range.nested = false;
    range.depth = 0;
    writer_.append(range, details.arguments);
  }
  if (details.meaning == Meaning::compute) {
    trace::DeviceActivity activity;
    activity.lane = lane(thread, trace::LaneKind::compute_thread);
    activity.begin = range.begin;
    activity.end = range.end;
    activity.name = details.name;
    activity.activity_class = trace::ActivityClass::compute;
    activity.layer = details.fields.layer;
    activity.microbatch = details.fields.microbatch;
    activity.pass = details.fields.pass;
    writer_.append(activity);
  } else if (details.meaning == Meaning::issue) {
    const trace::CorrelationId id = groups_.correlation(details.fields.group, details.fields.sequence);
    writer_.append(trace::ApiCall{host, range.begin, range.end, details.name, id});
  } else {
    write_collective(thread, open, range.end);
  }
}

void EventBuilder::write_collective(Thread& thread, const OpenPush& open, trace::Nanoseconds end) {
  const InstrumentationFields& fields = open.details.fields;
  trace::Collective event;
  event.lane = lane(thread, trace::LaneKind::communication);
  event.begin = open.begin;
  event.end = end;
  event.name = open.details.name;
  event.operation = fields.operation;
  event.sequence = static_cast<std::int64_t>(fields.sequence);
  event.bytes = fields.bytes;
  event.data_type = fields.data_type;
  event.peer = fields.peer;
  event.correlation = groups_.correlation(fields.group, fields.sequence);
  const std::optional<trace::GroupId> group = groups_.find(fields.group);
  if (!group.has_value() && waiting_.size() < kMaxWaiting) {
    waiting_.push_back(WaitingCollective{event, fields.group, drain_});
    return;
  }
  event.group = group.value_or(trace::kNoGroup);
  writer_.append(event);
}

void EventBuilder::start(Thread& thread, const RecordHeader& header, const std::byte* record,
                         trace::Nanoseconds time) {
  RangeReference reference;
  std::memcpy(&reference, record + sizeof header, sizeof reference);
  ProcessRange range;
  range.lane = lane(thread, trace::LaneKind::host_thread);
  range.begin = time;
  read_details(header, record, range.details);
  const auto early = early_ends_.find(reference.id);
  if (early != early_ends_.end()) {
    amend(range.details, std::move(early->second.details));
    write_process_range(range, early->second.lane, early->second.time);
    early_ends_.erase(early);
    return;
  }
  process_ranges_[reference.id] = std::move(range);
}

void EventBuilder::end(Thread& thread, const RecordHeader& header, const std::byte* record,
                       trace::Nanoseconds time) {
  RangeReference reference;
  std::memcpy(&reference, record + sizeof header, sizeof reference);
  details_.clear();
  read_details(header, record, details_);
  const trace::LaneId end_lane = lane(thread, trace::LaneKind::host_thread);
  const auto found = process_ranges_.find(reference.id);
  if (found != process_ranges_.end()) {
    amend(found->second.details, std::move(details_));
    write_process_range(found->second, end_lane, time);
    process_ranges_.erase(found);
  } else if (early_ends_.size() < kMaxWaiting) {
    early_ends_[reference.id] = EarlyEnd{end_lane, time, details_, drain_};
  } else {
    ++unknown_ends_;
  }
}

void EventBuilder::write_process_range(const ProcessRange& range, trace::LaneId end_lane,
                                       trace::Nanoseconds end) {
  trace::HostRange event = host_range(range.lane, range.begin, end, range.details);
  event.end_lane = end_lane;
  event.nested = false;
  writer_.append(event, range.details.arguments);
}

void EventBuilder::mark(Thread& thread, const RecordHeader& header, const std::byte* record,
                        trace::Nanoseconds time) {
  details_.clear();
  read_details(header, record, details_);
  if (details_.meaning == Meaning::group) {
    groups_.declare(writer_, details_.fields, text_);
    return;
  }
  if (details_.is_counter) {
    writer_.append(trace::Counter{counter_lane(details_.name), time, details_.counter_value});
    return;
  }
  trace::Mark event;
  event.lane = lane(thread, trace::LaneKind::host_thread);
  event.time = time;
  event.name = details_.name;
  event.domain = details_.domain;
  event.category = details_.category;
  event.color = details_.color;
  writer_.append(event, details_.arguments);
}

void EventBuilder::note_open(Thread& thread, OpenPush& open) {
  trace::OpenRange range = open_range(lane(thread, trace::LaneKind::host_thread), open.begin, open.details);
  range.nested = !replaces_host_range(open.details.meaning);
  range.depth = range.nested ? open.depth : 0;
  open.noted = true;
  if (open.details.meaning != Meaning::collective) return writer_.append(range, open.details.arguments);
  const InstrumentationFields& fields = open.details.fields;
  trace::Collective collective;
  collective.operation = fields.operation;
  collective.sequence = static_cast<std::int64_t>(fields.sequence);
  collective.peer = fields.peer;
  collective.group = groups_.find(fields.group).value_or(trace::kNoGroup);
  control::append_open_collective(writer_, range, open.details.arguments, collective);
}

void EventBuilder::end_drain(trace::Nanoseconds now) {
  rename_threads();
  for (Thread& thread : threads_) {
    for (std::size_t i = 0; i < thread.open_count_; ++i) {
      OpenPush& open = thread.open_[i];
      if (!open.noted && open.begin < drain_begin_) note_open(thread, open);
    }
  }
  for (auto& [id, range] : process_ranges_) {
    if (!range.noted && range.begin < drain_begin_) note_open(range);
  }
  if (drain_ > 0) settle(drain_ - 1);
  note_drops(std::exchange(short_payloads_, 0), "payload shorter than its schema", now);
  note_drops(std::exchange(large_payloads_, 0), "payload too large for the buffer", now);
  note_drops(std::exchange(unknown_ends_, 0), "end of a range that was never started", now);
  drain_begin_ = now;
  ++drain_;
}

void EventBuilder::note_open_again() {
  for (Thread& thread : threads_) {
    for (std::size_t i = 0; i < thread.open_count_; ++i) note_open(thread, thread.open_[i]);
  }
  for (auto& [id, range] : process_ranges_) note_open(range);
}

void EventBuilder::note_open(ProcessRange& range) {
  trace::OpenRange event = open_range(range.lane, range.begin, range.details);
  event.nested = false;
  writer_.append(event, range.details.arguments);
  range.noted = true;
}

void EventBuilder::settle(std::uint64_t last_drain) {
  std::erase_if(waiting_, [&](WaitingCollective& waiting) {
    const std::optional<trace::GroupId> group = groups_.find(waiting.group);
    if (!group.has_value() && waiting.drain > last_drain) return false;
    waiting.event.group = group.value_or(trace::kNoGroup);
    writer_.append(waiting.event);
    return true;
  });
  unknown_ends_ +=
      std::erase_if(early_ends_, [&](const auto& early) { return early.second.drain <= last_drain; });
}

void EventBuilder::end_thread(Thread& thread) {
  for (std::size_t i = 0; i < thread.open_count_; ++i) {
    if (!thread.open_[i].noted) note_open(thread, thread.open_[i]);
  }
  if (host_lanes_ != nullptr) host_lanes_->forget(thread.id_);
  threads_.remove_if([&](const Thread& other) { return &other == &thread; });
}

void EventBuilder::finish(trace::Nanoseconds now) {
  settle(std::numeric_limits<std::uint64_t>::max());
  drain_begin_ = std::numeric_limits<trace::Nanoseconds>::max();
  end_drain(now);
}

void EventBuilder::listen(std::string_view domain, Source& source) {
  listeners_.insert_or_assign(std::string(domain), &source);
  domains_.clear();  // they are looked up again
}

void EventBuilder::note_drops(std::uint64_t count, std::string_view reason, trace::Nanoseconds now) {
  if (count == 0) return;
  trace::Drop drop;
  drop.begin = drain_begin_ != 0 ? std::min(drain_begin_, now) : now;
  drop.end = now;
  drop.count = count;
  drop.source = writer_.intern("nvtx");
  drop.reason = writer_.intern(reason);
  writer_.append(drop);
}

}  // namespace lockstep::tracer::nvtx

// Makes trace events out of the records of all threads: pairs pushes with pops and starts with ends, decodes
// payloads, gives threads their lanes. Runs on the writer thread alone.
//
// Records of one thread come in order; records of different threads come in no order, so that an end may come
// before its start and a collective before its group: such events wait until the drain after the next.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/events/event.h"
#include "trace/writer.h"
#include "tracer/inject/core/host_lanes.h"
#include "tracer/inject/ring/ring.h"
#include "tracer/inject/sources/nvtx/instrumentation.h"
#include "tracer/inject/sources/nvtx/name_cache.h"
#include "tracer/inject/sources/nvtx/payload_copy.h"
#include "tracer/inject/sources/nvtx/registry.h"

namespace lockstep::tracer {
class Source;
}

namespace lockstep::tracer::nvtx {

// What a range or mark says apart from its times.
struct Details {
  trace::StringId name = 0;
  trace::StringId domain = 0;
  trace::StringId category = 0;
  std::uint32_t color = 0;
  std::vector<trace::Argument> arguments;
  Meaning meaning = Meaning::none;
  InstrumentationFields fields;
  bool is_counter = false;
  double counter_value = 0;

  void clear();
};

class EventBuilder {
 public:
  // With `host_lanes`, threads share their lanes with other sources.
  EventBuilder(trace::Writer& writer, Registry& registry, std::uint64_t process,
               HostLanes* host_lanes = nullptr);

  // A thread that emits. The reference is valid until end_thread(). `system_name` is what the kernel calls
  // it.
  class Thread;
  Thread& add_thread(std::uint32_t id, std::string_view system_name);

  // A push whose pop is the very next record, which says nothing of its own: most of a storm's. True if that
  // was all that both need; else they are consumed one by one. `push` is the whole record.
  bool consume_leaf(Thread& thread, const std::byte* push, trace::Nanoseconds begin, trace::Nanoseconds end);
  // `record` is a whole record of the ring, `time` its ticks converted.
  void consume(Thread& thread, const std::byte* record, trace::Nanoseconds time);
  // The records that had come when the drain began have been consumed. `now` is when that was.
  void end_drain(trace::Nanoseconds now);
  // Writes everything that is open now as open ranges, again if it has been before.
  void note_open_again();
  // The thread is gone: what it left open stays open.
  void end_thread(Thread& thread);
  // The process ends: notes all that is still open, and all that waited for something that never came.
  void finish(trace::Nanoseconds now);
  // Every push/pop range of this domain is told to `source` too, once it has ended.
  void listen(std::string_view domain, Source& source);
  // `count` events were lost since the drain before, for instance for "ring full".
  void note_drops(std::uint64_t count, std::string_view reason, trace::Nanoseconds now);

 private:
  struct OpenPush;
  struct ProcessRange {
    trace::LaneId lane = 0;
    trace::Nanoseconds begin = 0;
    Details details;
    bool noted = false;  // an OpenRange was written
  };
  struct EarlyEnd {
    trace::LaneId lane = 0;
    trace::Nanoseconds time = 0;
    Details details;
    std::uint64_t drain = 0;
  };
  struct WaitingCollective {
    trace::Collective event;
    std::uint64_t group = 0;
    std::uint64_t drain = 0;
  };
  struct Domain {
    bool known = false;
    bool is_instrumentation = false;
    trace::StringId name = 0;
    Source* listener = nullptr;
  };

  void push(Thread& thread, const RecordHeader& header, const std::byte* record, trace::Nanoseconds time);
  void pop(Thread& thread, const RecordHeader& header, const std::byte* record, trace::Nanoseconds time);
  void start(Thread& thread, const RecordHeader& header, const std::byte* record, trace::Nanoseconds time);
  void end(Thread& thread, const RecordHeader& header, const std::byte* record, trace::Nanoseconds time);
  void mark(Thread& thread, const RecordHeader& header, const std::byte* record, trace::Nanoseconds time);

  void write_pushed(Thread& thread, OpenPush& open, bool nested, trace::Nanoseconds end);
  void write_process_range(const ProcessRange& range, trace::LaneId end_lane, trace::Nanoseconds end);
  void write_collective(Thread& thread, const OpenPush& open, trace::Nanoseconds end);
  void note_open(Thread& thread, OpenPush& open);
  void note_open(ProcessRange& range);
  // Gives up waiting for what came in drains up to this one.
  void settle(std::uint64_t last_drain);
  void rename_threads();

  // Adds what the record says to `details`; what it doesn't say stays as it is.
  void read_details(const RecordHeader& header, const std::byte* record, Details& details);
  void read_payloads_into(const RecordHeader& header, std::span<const std::byte> section, Details& details);
  void add_numeric(std::uint8_t type, std::uint64_t bits, const Domain& domain, RecordKind kind,
                   Details& details);
  const Domain& domain(std::uint16_t index) {
    if (index < domains_.size() && domains_[index].known) [[likely]]
      return domains_[index];
    return look_up_domain(index);
  }
  const Domain& look_up_domain(std::uint16_t index);
  trace::StringId name_of(const std::byte* text, std::uint32_t bytes);
  trace::StringId registered(std::uint64_t handle);
  trace::StringId category(std::uint16_t domain, std::uint32_t category);
  trace::LaneId lane(Thread& thread, trace::LaneKind kind);
  trace::LaneId counter_lane(trace::StringId name);

  trace::Writer& writer_;
  Registry& registry_;
  std::uint64_t process_;
  HostLanes* host_lanes_;
  std::list<Thread> threads_;
  std::unordered_map<std::uint64_t, ProcessRange> process_ranges_;
  std::unordered_map<std::uint64_t, EarlyEnd> early_ends_;
  std::vector<WaitingCollective> waiting_;
  Groups groups_;
  std::vector<Domain> domains_;
  std::vector<trace::StringId> registered_;
  std::map<std::pair<std::uint16_t, std::uint32_t>, trace::StringId> categories_;
  std::map<trace::StringId, trace::LaneId> counter_lanes_;
  std::map<std::string, Source*, std::less<>> listeners_;  // by domain
  std::uint64_t category_version_ = 0;
  std::uint64_t thread_version_ = 0;
  std::uint64_t drain_ = 0;
  trace::Nanoseconds drain_begin_ = 0;  // of the drain before
  std::uint64_t short_payloads_ = 0;
  std::uint64_t large_payloads_ = 0;
  std::uint64_t unknown_ends_ = 0;
  NameCache names_;
  // Kept between records, so that they needn't be allocated for each.
  Details details_;
  std::vector<PayloadView> payloads_;
  std::vector<FieldValue> values_;
  std::string text_;
};

struct EventBuilder::OpenPush {
  std::uint16_t domain = 0;
  std::uint16_t depth = 0;
  bool noted = false;  // an OpenRange was written
  trace::Nanoseconds begin = 0;
  Details details;
};

class EventBuilder::Thread {
 public:
  Thread(std::uint32_t id, std::string name) : id_(id), name_(std::move(name)) {}

 private:
  friend class EventBuilder;
  static constexpr trace::LaneId kNoLane = 0xFFFFFFFFU;
  std::uint32_t id_;
  std::string name_;
  trace::LaneId host_ = kNoLane;
  trace::LaneId compute_ = kNoLane;
  trace::LaneId communication_ = kNoLane;
  // The first `open_count_` are open, of all domains, in the order of their pushes. The rest is kept for
  // reuse.
  std::vector<OpenPush> open_;
  std::size_t open_count_ = 0;
  std::size_t open_host_ranges_ = 0;  // those of them that become a HostRange
};

}  // namespace lockstep::tracer::nvtx

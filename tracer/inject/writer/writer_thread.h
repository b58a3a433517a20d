// The one thread that a traced process gets: empties all rings, turns records into events, writes the file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/writer.h"
#include "tracer/inject/control/controller.h"
#include "tracer/inject/core/host_lanes.h"
#include "tracer/inject/core/source.h"
#include "tracer/inject/core/tracer.h"
#include "tracer/inject/sources/nvtx/event_builder.h"
#include "tracer/inject/survivor/survivor.h"
#include "tracer/protocol/clock.h"

namespace lockstep::tracer {

class WriterThread final : public control::Recording {
 public:
  // Records lie in a ring no longer than this before they are read; shorter in the first moments of a
  // process, which may be its last.
  static constexpr std::uint32_t kDrainMilliseconds = 200;
  // What was read is handed to the kernel at least this often.
  static constexpr std::int64_t kFlushNanoseconds = 450'000'000;
  // How often the clocks' relation goes into the file.
  static constexpr std::int64_t kSnapshotInterval = 1'000'000'000;
  // How far ahead in a ring, in bytes, records are asked for.
  static constexpr std::uint64_t kPrefetchDistance = 512;

  explicit WriterThread(Tracer& tracer) : tracer_(tracer) {}

  // Returns when the process exits or recording has become impossible.
  void run();

 private:
  struct Producer {
    std::uint64_t taken = 0;
    std::uint32_t thread = 0;
    std::uint64_t head = 0;  // as read at the beginning of the drain
    std::uint64_t dropped = 0;
    std::uint64_t reentrant = 0;
    nvtx::EventBuilder::Thread* events = nullptr;
  };

  Status open_file();
  // Puts into the file that nobody writes the last moment of this process any more.
  void note_survivor_ended(const char* why);
  // In a survivor (survivor/survivor.h), where this thread is gone.
  void finish_after_death();
  void describe_process();
  void drain();
  // Takes what the rings hold; `last`: nothing comes after that.
  void empty_rings(bool last);
  void drain_ring(RingSlot& slot, Producer& producer);
  // The push at `position`, and its pop where that is the next record: then how many bytes the pop takes,
  // else 0.
  std::uint64_t consume_push(const Ring& ring, std::uint64_t position, const Producer& producer);
  // Tells sources that have registered since that the file is open.
  void begin_new_sources();
  void note_open_ranges() override;
  void count_drops(trace::Nanoseconds now);
  void retire_dead_threads();
  void take_clock_snapshot(const ClockReading& reading);
  // Hands what was read to the kernel. Where the file takes nothing more, what comes is counted, and the
  // count stands in the file.
  void flush();

  Tracer& tracer_;
  std::optional<trace::Writer> writer_;
  std::optional<nvtx::EventBuilder> events_;
  ClockConverter clock_;
  std::optional<HostLanes> host_lanes_;
  std::optional<SourceContext> context_;
  std::optional<control::Controller> controller_;
  std::string path_;
  std::vector<Source*> sources_;     // by number
  std::vector<Producer> producers_;  // by ring slot
  trace::Nanoseconds last_reading_ = 0;
  trace::Nanoseconds last_snapshot_ = 0;
  trace::Nanoseconds last_flush_ = 0;
  bool tables_repeated_ = false;
  std::uint64_t unbuffered_ = 0;
  std::uint64_t reentrant_without_ring_ = 0;
  std::uint64_t refused_ = 0;
  std::string unwritten_why_;               // not empty: the file takes nothing more
  trace::Nanoseconds unwritten_since_ = 0;  // ns since 1970
  std::uint64_t unwritten_in_rings_ = 0;
  Survivor survivor_;  // the last one: it works with all of these
};

}  // namespace lockstep::tracer

// What every source beyond NVTX is to the tracer: something that hands records over in the rings of threads
// (emit(), below), or keeps buffers of its own, and turns both into events on the writer thread.
//
// One object a source, never destroyed, registered once it has something to record. A source that is absent
// costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "trace/events/event.h"
#include "trace/writer.h"
#include "tracer/inject/core/host_lanes.h"
#include "tracer/inject/core/tracer.h"
#include "tracer/inject/ring/ring.h"
#include "tracer/protocol/clock.h"

namespace lockstep::tracer {

// What a source works with on the writer thread, valid from begin() to the end of finish().
struct SourceContext {
  trace::Writer& writer;
  const ClockConverter& clock;  // ticks to the file's clock
  const ProcessInfo& process;
  HostLanes& host_lanes;  // of threads
};

// Events that were lost since the last time, to be noted in the file.
void note_drops(trace::Writer& writer, std::string_view source, std::string_view reason, std::uint64_t count,
                trace::Nanoseconds begin, trace::Nanoseconds end);

// What became of a source in this file, as metadata for the manifest ("source.cupti": "recording",
// "source.cupti.problem": "…"). `state` is one word or two: "recording", "absent", "failed", "yielded";
// `problem` says what could not be recorded and why, empty if nothing.
void describe_source(trace::Writer& writer, std::string_view source, std::string_view state,
                     std::string_view problem = {});

class Source {
 public:
  virtual ~Source() = default;
  // "cupti", "nccl", "pytorch": names it in the manifest, in drops, and in --sources.
  virtual const char* name() const noexcept = 0;

  // --- on the writer thread; may throw std::bad_alloc, which ends the recording ---

  // The file is open. Called once a file, so again in a forked child that records: what a source keeps of an
  // earlier file (ids of strings, lanes and groups) means nothing in the new one.
  virtual void begin(SourceContext& context) = 0;
  // A record that a thread emitted. Those of one thread come in order, those of different threads in none;
  // all that came before the drain began are consumed before end_drain().
  virtual void consume(std::uint32_t thread, std::uint8_t type, const std::byte* body, std::uint32_t bytes,
                       trace::Nanoseconds time);
  // Several times a second, after the rings were read. `now` is when reading began: every record of before it
  // has been consumed.
  virtual void end_drain(trace::Nanoseconds now) = 0;
  // The process ends: nothing comes any more. Follows the last end_drain().
  virtual void finish(trace::Nanoseconds now) = 0;
  // The file is about to be read, or what is in memory to be kept: what is going on now and has not ended is
  // written as OpenRange, again if it has been before. The default does nothing.
  virtual void note_open() {}

  // The NVTX domain whose push/pop ranges this source wants to hear of; empty for none. They are in the file
  // all the same.
  virtual std::string_view nvtx_domain() const noexcept { return {}; }
  // Such a range has ended. Between two drains, in the order of the thread's calls.
  virtual void range(std::uint32_t thread, const trace::HostRange& range,
                     std::span<const trace::Argument> arguments);

  // --- elsewhere ---

  // In a forked child, before anything else runs: only async-signal-safe work. The default does nothing.
  virtual void after_fork_in_child() noexcept {}
  // The process is about to end; the writer thread still runs and will call end_drain() and finish(). The
  // place to ask a library for what it still holds. In bounded time.
  virtual void before_exit() noexcept {}
  // Nothing is recorded from now on, or again (core/gate_word.h): a source that makes the job pay for its
  // events stops that here, for instance by disabling what it asked a library for. emit() records nothing
  // meanwhile. Called by whichever thread changes it, the one that begins a step for instance, one call at a
  // time; may come twice in a row; must not wait. A source that is added while nothing is recorded is paused
  // after its begin(). The default does nothing.
  virtual void pause() noexcept {}
  virtual void resume() noexcept {}
};

// Appends a record of a registered source to the calling thread's ring, with the time of now. False if it was
// dropped (counted). No lock, no allocation but a thread's first ring, no system call; safe in signal
// handlers. `type` is the source's own; at most kMaxBodyBytes of body. Does nothing, and returns false,
// where nothing is to be recorded now (core/gate_word.h); that counts as no loss.
inline constexpr std::uint32_t kMaxBodyBytes = 4096;
bool emit(SourceId source, std::uint8_t type, const void* body, std::uint32_t bytes) noexcept;
// The same for records made of two parts, for instance a struct and a text.
bool emit(SourceId source, std::uint8_t type, const void* body, std::uint32_t bytes, const void* more,
          std::uint32_t more_bytes) noexcept;

// Also where nothing is recorded now: for what later records refer to (process groups, communicators, names)
// and for ends of what was emitted as begun.
bool emit_always(SourceId source, std::uint8_t type, const void* body, std::uint32_t bytes,
                 const void* more = nullptr, std::uint32_t more_bytes = 0) noexcept;

// Whether the user wants the source: LOCKSTEP_SOURCES is a list of names ("nvtx,cupti"), or unset for what is
// recorded by default (protocol/source_table.h).
bool is_wanted(std::string_view source) noexcept;

}  // namespace lockstep::tracer

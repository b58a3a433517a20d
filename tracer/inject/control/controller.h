// Carries out a Plan on the writer thread: closes and opens the gate by time and size, tells the file when
// nothing was recorded, answers `lockstep record --attach`, and in ring mode decides when what is held is
// written.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "trace/events/event.h"
#include "trace/writer.h"
#include "tracer/inject/control/absences.h"
#include "tracer/inject/control/endpoint.h"
#include "tracer/inject/control/gate.h"
#include "tracer/inject/control/step_times.h"
#include "tracer/inject/core/tracer.h"
#include "tracer/protocol/plan.h"

namespace lockstep::tracer::control {

// Reads the plan of this process from its environment and sets the gate to it. Once a process, before
// anything is recorded. Throws std::bad_alloc.
void prepare_plan();
const Plan& the_plan() noexcept;

// How this process' file is to be written.
trace::WriterOptions writer_options();

// What the controller needs of the writer thread.
class Recording {
 public:
  virtual ~Recording() = default;
  // Writes what is open now as open ranges, again if it has been before.
  virtual void note_open_ranges() = 0;
};

class Controller {
 public:
  // `file` is the trace file's path. All must outlive the controller.
  Controller(trace::Writer& writer, const ProcessInfo& process, Recording& recording, std::string file);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // A record of kControlRecords.
  void consume(std::uint8_t type, const std::byte* body, std::uint32_t bytes, trace::Nanoseconds time);
  // At the end of each drain; `first_moments` says that the process has just begun. May write.
  void end_drain(trace::Nanoseconds now, bool first_moments);
  void finish(trace::Nanoseconds now);
  // The same in a survivor: the process is gone, and nobody closed the file.
  void finish_after_death(trace::Nanoseconds now);

 private:
  void write_ring(const std::string& last_cause, trace::Nanoseconds now);

  void keep_time(trace::Nanoseconds now);
  void keep_size();
  std::uint64_t count_progress() const;
  void notice_progress(trace::Nanoseconds now);
  void change(trace::Nanoseconds now, std::uint32_t set, std::uint32_t clear);
  // Writes what is open and buffered; ring mode: what is held, and says why and what is missing before it.
  // How much that was: bytes of the file, or of memory in ring mode; 0 if nothing happened since the last
  // time.
  std::uint64_t save(const std::string& cause, trace::Nanoseconds now);
  std::string answer(Request request, trace::Nanoseconds now);

  const Plan& plan_;
  trace::Writer& writer_;
  const ProcessInfo& process_;
  Recording& recording_;
  std::string file_;
  Absences absences_;
  StepTimes steps_;
  Endpoint endpoint_;
  trace::Nanoseconds begin_;        // of the job's recording, on the file's clock, --delay left out
  trace::Nanoseconds now_ = 0;      // of the last drain
  trace::Nanoseconds saved_to_;     // ring mode: all up to here is in the file, or said to be missing
  trace::Nanoseconds progress_at_;  // when a step began or a collective ended the last time
  std::uint64_t progress_ = 0;      // how often that was
  std::uint64_t steps_begun_ = 0;
  std::uint64_t saves_ = 0;
  std::uint64_t saved_events_ = 0;  // how many there were at the last of them
  bool endpoint_tried_ = false;
  bool time_is_ours_ = true;  // --delay and --duration count: nobody has started recording by hand
  std::string save_cause_;    // something asked for it in this drain
  std::string save_due_;      // and in the one before
};

}  // namespace lockstep::tracer::control

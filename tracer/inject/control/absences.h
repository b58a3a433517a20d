// Tells the file when nothing was recorded on purpose: a Drop of count 0 from the moment at which the gate
// was closed to the one at which it was opened (docs/trace-format.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/events/event.h"
#include "trace/writer.h"
#include "tracer/protocol/plan.h"

namespace lockstep::tracer::control {

class Absences {
 public:
  // `begin` is when the process began to be traced, with the gate's word of then.
  Absences(trace::Writer& writer, const Plan& plan, trace::Nanoseconds begin, std::uint32_t word);

  // The gate's word after a change at `time`. In any order until settle().
  void changed(trace::Nanoseconds time, std::uint32_t word);
  // All changes up to now have been told. `word` is the gate's: a change whose record was lost is noticed.
  void settle(trace::Nanoseconds now, std::uint32_t word);
  // Nothing follows: a gate that is closed was so to the end.
  void finish(trace::Nanoseconds now);

  bool is_closed() const { return closed_; }
  // When the gate was first opened; kUnknownTime if it never was.
  trace::Nanoseconds first_opened() const { return first_opened_; }

 private:
  struct Change {
    trace::Nanoseconds time = 0;
    std::uint32_t word = 0;
  };
  void apply(const Change& change);
  void write(trace::Nanoseconds begin, trace::Nanoseconds end);

  trace::Writer& writer_;
  const Plan& plan_;
  std::vector<Change> changes_;
  bool closed_ = false;
  bool differed_ = false;  // at the settle() before
  trace::Nanoseconds since_ = 0;
  trace::Nanoseconds first_opened_ = trace::kUnknownTime;
  std::uint32_t reasons_ = 0;
};

// "--steps 100:110", "--delay and --duration", "stopped by hand": the reasons in a gate's word.
std::string reasons_in_words(const Plan& plan, std::uint32_t word);
// Writes a Drop of count 0: nobody listened from `begin` to `end`.
void note_absence(trace::Writer& writer, std::string_view reason, trace::Nanoseconds begin,
                  trace::Nanoseconds end);

}  // namespace lockstep::tracer::control

// What NVTX events do at a gate that isn't simply open (core/gate_word.h).
#pragma once

#include "tracer/inject/control/gate.h"
#include "tracer/inject/sources/nvtx/emit.h"

namespace lockstep::tracer::nvtx {

// Whether the event is to be recorded. Tells the gate of a step that begins with it, which may open or close
// it. Process groups are declared in any case. `is_push` for push/pop ranges. Not inside a Section.
bool admit_slowly(const Event& event, bool is_push) noexcept;

inline bool admit(const Event& event, bool is_push) noexcept {
  return control::gate_word() == 0 || admit_slowly(event, is_push);
}

}  // namespace lockstep::tracer::nvtx

#include "tracer/inject/core/gate_word.h"

namespace lockstep::tracer::control {

constinit std::atomic<std::uint32_t> gate{0};

}  // namespace lockstep::tracer::control

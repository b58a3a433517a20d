// One rank is late: step after step, from some step on, once in so many steps, or by its link.
#include <array>

#include "tests/accuracy/cases.h"

namespace lockstep::accuracy {
namespace {

constexpr auto kSimulated = std::to_array<SimulatedKind>({
    {"straggler_persistent", Fault::compute},
    {"straggler_since", Fault::midway},
    {"straggler_periodic", Fault::periodic},
    {"slow_link_of_rank", Fault::link},
});

}  // namespace

const Planted planted::straggler{.simulated = kSimulated};

}  // namespace lockstep::accuracy

// In each step another rank is late.
#include <array>

#include "tests/accuracy/cases.h"

namespace lockstep::accuracy {
namespace {

constexpr auto kSimulated = std::to_array<SimulatedKind>({
    {"jitter", Fault::changing},
});

}  // namespace

const Planted planted::jitter{.simulated = kSimulated};

}  // namespace lockstep::accuracy

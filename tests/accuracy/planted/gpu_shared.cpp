// Nothing plants it yet.
#include "tests/accuracy/cases.h"

namespace lockstep::accuracy {

const Planted planted::gpu_shared{};

}  // namespace lockstep::accuracy

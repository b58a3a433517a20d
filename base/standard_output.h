// Writing to stdout so that nothing fails silently.
#pragma once

#include <functional>
#include <ostream>

#include "base/result.h"

namespace lockstep {

// Calls `write` with a buffered stream to stdout. A reader that has seen enough (`| head`) is no error; a
// full disk is.
Status write_to_stdout(const std::function<void(std::ostream&)>& write);

}  // namespace lockstep

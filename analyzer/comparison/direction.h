// Which way a figure gets worse.
#pragma once

#include <cstdint>

namespace lockstep::analyzer {

enum class Direction : std::uint8_t { lower_is_better, higher_is_better };

}  // namespace lockstep::analyzer

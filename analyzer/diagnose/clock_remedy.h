// What to do where the clocks leave open who was late.
#pragma once

#include <string_view>

namespace lockstep::analyzer {

inline constexpr std::string_view kClockRemedy =
    "`lockstep record` on every host, whose recorders measure how far the clocks are apart "
    "(docs/recording.md); or keep the hosts' clocks together with chrony or PTP (`chronyc tracking` shows the "
    "error), and record again";

}  // namespace lockstep::analyzer

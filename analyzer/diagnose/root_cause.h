// The reason for a rank's lateness in words.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analyzer/diagnose/blame.h"

namespace lockstep::analyzer {

// "before the 5 collectives that cost most it computed for 178 ms on average, the others for 108 ms". Empty
// where nothing explains it.
std::string describe_root_cause(const Diagnosis& diagnosis, const LateCause& cause);

// The delays that words are made of: enough to be typical, few enough to look at quickly.
std::span<const Delay* const> costliest_delays(const LateCause& cause);

// A kernel's name without its types: "void at::native::add<float, 4>(int, float*)" becomes "at::native::add".
std::string short_name(std::string_view name);

}  // namespace lockstep::analyzer

// The reason for a rank's lateness in words.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/diagnose/blame.h"

namespace lockstep::analyzer {

// "compute `layer 3` took 12.1 ms, median of the others 7.9 ms; mean of 5 operations". Empty where nothing
// explains it.
std::string describe_root_cause(const Diagnosis& diagnosis, const LateCause& cause);

// A kernel's name without its types: "void at::native::add<float, 4>(int, float*)" becomes "at::native::add".
std::string short_name(std::string_view name);

}  // namespace lockstep::analyzer

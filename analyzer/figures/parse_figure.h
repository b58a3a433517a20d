// Figures as people write them.
#pragma once

#include <string_view>

#include "analyzer/figures/figure.h"
#include "base/result.h"

namespace lockstep::analyzer {

// "412 ms", "1.5 s", "86 %", "12.5 GB/s", "2 GB", "2.4 /s"; a bare number is in the unit itself (ns, a share
// from 0 to 1, …). Errors say what may be written.
Result<double> parse_figure(std::string_view text, Unit unit);

// "3 %" or "0.03": a share, 0 or more.
Result<double> parse_share(std::string_view text);

}  // namespace lockstep::analyzer

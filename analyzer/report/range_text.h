// Times and ranges as they are typed: "1.5ms", "250us:1ms".
#pragma once

#include <string_view>

#include "analyzer/model/job.h"
#include "base/result.h"

namespace lockstep::analyzer {

// A number, with a fraction if wanted, and ns, us (or µs), ms, s; without a unit: ns. Exact: a fraction that
// is finer than a nanosecond is an error, as is a value beyond int64.
Result<Nanoseconds> parse_time(std::string_view text);

// "A:B" with A < B, both since `origin`.
Result<TimeSpan> parse_range(std::string_view text, Nanoseconds origin);

}  // namespace lockstep::analyzer

// Kineto writes microseconds as decimal numbers, with up to three and more digits after the point. A double
// holds 15 to 17 digits and an epoch time in ns has 19, so the text itself is converted.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lockstep::analyzer::kineto {

// A JSON number in µs, as ns, rounded to nearest, ties to even. Exact for any number of digits and any
// exponent. Absent if the text is no JSON number or the result does not fit in 64 bits. White space around it
// and one pair of quotes (some tools write numbers as strings) are ignored.
std::optional<std::int64_t> microseconds_to_ns(std::string_view text);

// A JSON number that is a whole number, e.g. 7, "7", 7.0 or 1e3. Absent otherwise.
std::optional<std::int64_t> whole_number(std::string_view text);

}  // namespace lockstep::analyzer::kineto

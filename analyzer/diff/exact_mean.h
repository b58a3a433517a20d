// Means of nanoseconds whose parts still sum to the whole once they are written as integers. A part is kept
// in units of 2^-32 ns, and parts of one whole are rounded together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::analyzer {

// In units of 2^-32 ns: less than that is lost of each quotient, a nanosecond of four billion of them.
using ExactNs = __int128;

// `sum` ns divided by `count`, which is at least 1. Neither is negative.
ExactNs quotient(std::int64_t sum, std::int64_t count);

// The nearest nanosecond, halves up.
std::int64_t rounded(ExactNs value);

// The parts as integers whose sum is the rounded sum of the parts: each is rounded down, and those that lost
// most by it get a nanosecond more, the first of equals first (the method of largest remainders).
std::vector<std::int64_t> rounded_together(std::span<const ExactNs> parts);

}  // namespace lockstep::analyzer

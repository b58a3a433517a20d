// Which gradients are reduced together, as ZeRO fills its bucket: in the order in which they become ready,
// until the next one would not fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep::trainer {

// `elements`: of each gradient, in that order. Each bucket holds consecutive indices into it, in order, of
// together at most `limit` elements; a gradient larger than that is alone in one.
std::vector<std::vector<std::size_t>> plan_buckets(const std::vector<std::int64_t>& elements,
                                                   std::int64_t limit);

}  // namespace lockstep::trainer

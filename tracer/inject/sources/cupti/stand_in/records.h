// Sizes of records as versions of CUPTI have them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::tracer::cupti::stand_in {

// 0 for kinds that the stand-in does not know.
std::size_t record_bytes(int kind, std::uint32_t version);
std::size_t largest_record_bytes();

}  // namespace lockstep::tracer::cupti::stand_in

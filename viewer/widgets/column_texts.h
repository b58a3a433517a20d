// What the columns of figures in the Overview and of a range count, in words: shown beside the pointer.
#pragma once

namespace lockstep::viewer {

inline constexpr const char* kComputeInWords = "Time in which the rank computed.";
inline constexpr const char* kWaitsInWords =
    "All time that the rank waited for others in its communication:\n"
    "beside which nothing computed, and hidden behind compute too.\n"
    "The bars count the latter as compute.";
inline constexpr const char* kExposedInWords =
    "Communication beside which nothing computed:\n"
    "what of it was waiting, and what moved data.";

}  // namespace lockstep::viewer

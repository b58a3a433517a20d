// How a file tells when the threads that train ran, slept, and waited for a processor: three counters, and
// metadata.
//
// Each point of the counters stands for the time since the point before, which is its value times that time:
// what the training threads ran (cores), what they were ready to run and waited (threads), and what of that
// the one waited that waited longest (share). All three have points at the same times.
#pragma once

#include <string_view>

namespace lockstep::trace {

inline constexpr std::string_view kOnCpuCounter = "training threads on a core (cores)";
inline constexpr std::string_view kRunnableCounter = "training threads waiting for a core (threads)";
inline constexpr std::string_view kWaitedCounter = "longest wait of a training thread for a core (share)";

// Which threads these are, and since when (the file's clock): "4711:123456789,4712:123459999".
inline constexpr const char* kTrainingThreadsKey = "scheduling.threads";
// The cores that the process may run on, when it begins to train: how many, and which: "0-3,8".
inline constexpr const char* kCoresKey = "cores";
inline constexpr const char* kCoreSetKey = "core_set";
// Cores' time that its control group may use, where that is limited: "1.5".
inline constexpr const char* kCoreQuotaKey = "core_quota";

}  // namespace lockstep::trace

// Numbers that the program hard_times and its test share.
#pragma once

namespace hard_times {

inline constexpr int kFirst = 200;         // events before the hard time: 0 to 199
inline constexpr int kSecond = 200;        // and after it
inline constexpr int kFlood = 20000;       // instead, where rings are to overflow
inline constexpr int kThreads = 2000;      // with one event each
inline constexpr int kChildren = 24;       // of the fork storm
inline constexpr int kOfChild = 10;        // events of each,
inline constexpr int kChildBase = 100000;  // which begin at this number times the child's, counted from 1
inline constexpr int kExitCode = 21;
inline constexpr int kNotPossible = 77;  // exit code where this machine does not allow the hard time

}  // namespace hard_times

// Exit codes of every verb but `record`, which returns the job's own, and `check`, which has more.
#pragma once

namespace lockstep::cli {

inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;  // the input could not be read or the output not written; stderr says why
inline constexpr int kUsage = 2;    // the command line is wrong

}  // namespace lockstep::cli

// Exit codes of every verb but `record`, which returns the job's own, and `check`, which has more.
#pragma once

#include <string_view>

namespace lockstep::cli {

inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;  // the input could not be read or the output not written; stderr says why
inline constexpr int kUsage = 2;    // the command line is wrong

// Of a verb that something kept from its work: memory ran out, a program is missing. 1 of `check` says that
// a figure is worse, and nothing else may say it.
constexpr int failure_of(std::string_view verb) {
  return verb == "check" ? kUsage : kFailure;
}

}  // namespace lockstep::cli

// CollectiveIssues that a framework told of (PyTorch's c10d, on the call of its process group), apart from
// those that the communication library told. Two things differ: the sequence number counts all of the group's
// collectives, not those of one kind; and the interval is the framework's call, in which the launch lies
// unless several calls are launched together after the last of them.
#pragma once

#include <string_view>

namespace lockstep::trace {

// Their names begin so; those of the library don't.
inline constexpr std::string_view kFrameworkIssuePrefix = "c10d.";
// And so those of collectives that no device runs, and of which nobody told when they were over: the rank
// came to them, and that is all. One may be told of although its interval comes later.
inline constexpr std::string_view kEndUnknownPrefix = "c10d.end_unknown.";

}  // namespace lockstep::trace

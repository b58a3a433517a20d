// Rewrites a trace file so that it takes less room.
//
// A writer that must lose no more than a second writes many small chunks, and each pays for its header, its
// index entry and its first values. Once the file is closed there is nothing left to lose: compact() copies
// all its events into full chunks in a new file beside it and renames that over the old one. Nothing else
// changes: same strings, lanes, groups and metadata under the same ids (and one metadata key more), same
// events in the same order per lane. Ranges that ended after having been written as open are kept once.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace lockstep::trace {

// Metadata that a compacted file has: it was closed once, and its chunks are in order of kind and lane. Where
// its footer is missing, whole lanes may be.
inline constexpr const char* kCompacted = "compacted";

// The name of a copy while it is made, "rank-0.lst.compact-4711": that of the file, and the process that
// makes it. One that is killed leaves its copy behind.
struct CopyName {
  std::string_view file;
  pid_t process = 0;
};
std::optional<CopyName> parse_copy_name(std::string_view name);

// True if the file was replaced; false if it was left alone because it is not whole (no footer, damage,
// warnings: it is evidence as it stands), would not have become smaller, or `enough`, which is asked now and
// then while events are copied, said so. An error names the file; the old file is then still there. The new
// one is on the disk before it takes that one's place, since a machine may be lost right after.
Result<bool> compact(const char* path, const std::function<bool()>& enough = nullptr);

}  // namespace lockstep::trace

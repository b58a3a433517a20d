// Rewrites a trace file so that it takes less room.
//
// A writer that must lose no more than a second writes many small chunks, and each pays for its header, its
// index entry and its first values. Once the file is closed there is nothing left to lose: compact() copies
// all its events into full chunks in a new file beside it and renames that over the old one. Nothing else
// changes: same strings, lanes, groups and metadata under the same ids (and one metadata key more), same
// events in the same order per lane. Ranges that ended after having been written as open are kept once.
#pragma once

#include "base/result.h"

namespace lockstep::trace {

// Metadata that a compacted file has: it was closed once, and its chunks are in order of kind and lane. Where
// its footer is missing, whole lanes may be.
inline constexpr const char* kCompacted = "compacted";

// True if the file was replaced; false if it was left alone because it is not whole (no footer, damage,
// warnings: it is evidence as it stands) or would not have become smaller. An error names the file; the old
// file is then still there.
Result<bool> compact(const char* path);

}  // namespace lockstep::trace

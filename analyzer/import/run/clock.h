// The clock that a file's times were read from, and what is known by it of the recording's end.
#pragma once

#include <cstdint>
#include <span>

#include "analyzer/import/rank/rank_import.h"
#include "trace/events/event.h"

namespace lockstep::analyzer::run {

// How the clock relates to the calendar, until when the file was written, and when the job was interrupted.
// `interrupted_at`: ns since 1970, 0 where it was not. Returns how many snapshots lie too far away to count.
std::uint64_t read_clock(std::span<const trace::ClockSnapshot> snapshots, std::int64_t interrupted_at,
                         RankImport& import);

}  // namespace lockstep::analyzer::run

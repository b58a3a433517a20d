// What was going on when recording ended: what a hung or killed job was in.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analyzer/model/job.h"
#include "base/result.h"
#include "trace/events/event.h"
#include "trace/reader.h"

namespace lockstep::analyzer::run {

// Of the ranges that never ended, the operations that tell of themselves (docs/instrumentation.md) and the
// names of the others, both by begin; and when a hang was noted. `groups`: the import's, by the file's
// numbers. `name`: the import's id of a text of the file.
Status read_ending(const trace::Reader& reader, std::vector<trace::OpenRange> unfinished,
                   const std::vector<std::uint32_t>& groups,
                   const std::function<std::uint32_t(trace::StringId)>& name, Ending& ending);

}  // namespace lockstep::analyzer::run

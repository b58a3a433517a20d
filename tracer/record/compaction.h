// At the end of a recording: the trace files that this host's processes have closed are rewritten into less
// room (trace/compact.h). The tracer flushes often so that a killed job loses little; once a file is closed
// that has done its work. Files that were not closed are left as they are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace lockstep::tracer::record {

// Larger files have large chunks already, and copying them would keep people waiting.
inline constexpr std::uint64_t kLargestToCompact = 64U << 20;

// Compacts the *.lst files of `folder` that `host` wrote. Failures are no loss (the old file stays) and are
// not reported.
void compact_files(const std::filesystem::path& folder, const std::string& host);

}  // namespace lockstep::tracer::record

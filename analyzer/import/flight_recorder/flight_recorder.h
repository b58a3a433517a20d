// Reads one rank's dump of PyTorch's flight recorder (TORCH_FR_BUFFER_SIZE, once
// TORCH_NCCL_TRACE_BUFFER_SIZE): what NCCL or Gloo wrote
// when a collective timed out, as a pickle or as JSON. It tells which operations the rank had issued, and
// which of them had not ended; of times it knows when they were issued, and when the watchdog saw them end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "analyzer/import/rank/rank_import.h"
#include "base/result.h"

namespace lockstep::analyzer::flight_recorder {

// Larger files are refused.
inline constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 30U;

// Whether a file that begins like this is such a dump. JSON is told by the fields of
// its outermost object, as far as the beginning goes (outermost_keys.h).
bool recognises(std::string_view beginning);
bool recognises_pickle(std::string_view beginning);

// Errors: missing or unreadable file, of more than 1 GiB, empty, neither pickle nor JSON, a pickle that would
// run code or of protocol 0 or 1, data that is no dump. A file that is cut or damaged further on gives what
// stands before, and a warning.
Result<RankImport> import_file(const std::filesystem::path& path);

// The same of bytes in memory; `path` is for messages and may name the rank, where the dump's groups and
// messages do not contradict it (warning `rank_contradicted`).
Result<RankImport> import_bytes(std::span<const std::byte> bytes, const std::filesystem::path& path);

}  // namespace lockstep::analyzer::flight_recorder

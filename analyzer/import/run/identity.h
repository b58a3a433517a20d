// Who a recorded file is of: rank, host and its cores, clock, lanes, groups.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/import/rank/rank_import.h"
#include "trace/reader.h"

namespace lockstep::analyzer::run {

// "" where the file has no such key.
std::string metadata_of(const trace::Reader& reader, const char* key);

// Rank, size of the world, host, cores, clock, lanes and device.
void read_identity(const trace::Reader& reader, RankImport& import);

// The file's groups, in their order: which of the import's each one is.
std::vector<std::uint32_t> intern_groups(const trace::Reader& reader, RankImport& import);

}  // namespace lockstep::analyzer::run

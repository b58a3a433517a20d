// From a dump's records to one rank of a job: what had not ended is open, what had is an activity, as far as
// its times are known; of the one that ended last at least that it did.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/import/flight_recorder/dump.h"
#include "analyzer/import/rank/rank_import.h"

namespace lockstep::analyzer::flight_recorder {

// `cut`: the file holds no more than what stands before some damage.
RankImport rank_of_dump(const Dump& dump, const std::string& file, std::optional<std::int32_t> rank,
                        bool cut);

}  // namespace lockstep::analyzer::flight_recorder

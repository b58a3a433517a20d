// What a damaged or unfinished trace file costs.
#pragma once

#include <set>
#include <string>

#include "analyzer/import/rank/rank_import.h"
#include "trace/reader.h"

namespace lockstep::analyzer::run {

// When device activities are missing. `damage`: what reading the events met.
void find_losses(const trace::Reader& reader, const std::set<std::string>& damage, RankImport& import);
// Adds a warning for each kind of damage, and one if the file was not closed.
void warn_of_damage(const trace::Reader& reader, std::set<std::string> damage, RankImport& import);

}  // namespace lockstep::analyzer::run

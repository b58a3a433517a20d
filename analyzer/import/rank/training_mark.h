// The mark by which a program tells how it trains (docs/instrumentation.md, "What is trained, and how").
#pragma once

#include <string>
#include <string_view>

#include "analyzer/import/rank/rank_import.h"

namespace lockstep::analyzer {

// Whether a mark or range of this name is one.
bool is_training_mark(std::string_view name);

// "lockstep.training parameters=124000000 zero_stage=3 data_parallel=8 …" into the import's trace; of several
// the last one counts. Warns of what it can't read, and takes the rest.
void take_training_mark(std::string_view name, RankImport& import);

}  // namespace lockstep::analyzer

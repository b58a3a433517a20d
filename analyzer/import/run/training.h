// How the recorded program trains, where it told (docs/instrumentation.md).
#pragma once

#include "analyzer/import/rank/rank_import.h"
#include "base/result.h"
#include "trace/reader.h"

namespace lockstep::analyzer::run {

// The last such mark of the file, into the import.
Status read_training(const trace::Reader& reader, RankImport& import);

}  // namespace lockstep::analyzer::run

// NCCL's own log, as an importer: over which paths ranks talk.
#pragma once

#include "analyzer/import/rank/importer.h"

namespace lockstep::analyzer::importers {

extern const Importer nccl_log;

}  // namespace lockstep::analyzer::importers

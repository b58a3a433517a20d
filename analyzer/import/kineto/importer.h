// Kineto JSON of PyTorch's profiler, as an importer.
#pragma once

#include "analyzer/import/rank/importer.h"

namespace lockstep::analyzer::importers {

extern const Importer kineto;

}  // namespace lockstep::analyzer::importers

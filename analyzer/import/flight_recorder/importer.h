// Dumps of PyTorch's flight recorder, as an importer.
#pragma once

#include "analyzer/import/rank/importer.h"

namespace lockstep::analyzer::importers {

extern const Importer flight_recorder;

}  // namespace lockstep::analyzer::importers

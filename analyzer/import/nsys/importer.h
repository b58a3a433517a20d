// SQLite exports of Nsight Systems, as an importer.
#pragma once

#include "analyzer/import/rank/importer.h"

namespace lockstep::analyzer::importers {

extern const Importer nsys;

}  // namespace lockstep::analyzer::importers

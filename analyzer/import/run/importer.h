// Runs of `lockstep record`, as an importer: single .lst files; whole folders, which say more, are found in
// input_files.cpp.
#pragma once

#include "analyzer/import/rank/importer.h"

namespace lockstep::analyzer::importers {

extern const Importer run;

}  // namespace lockstep::analyzer::importers

// Verbs of what reads runs and says what is in them: run_analyze, run_diff, …
#pragma once

namespace lockstep::cli {

#define LOCKSTEP_ANALYSIS_VERB(name, summary) int run_##name(int argc, char** argv);
#include "cli/common/analysis_verbs.def"

}  // namespace lockstep::cli

// Programs that stand beside this one, because of what they link, and take over its process.
#pragma once

namespace lockstep::cli {

// For the verb argv[0]: `lockstep-view` and `lockstep-train`, which are of one verb, and `lockstep-analyze`,
// which gets the verb as its first argument. They return where the program can't be started, with the exit
// code.
int run_view(int argc, char** argv);
int run_train(int argc, char** argv);
int run_analysis_verb(int argc, char** argv);

}  // namespace lockstep::cli

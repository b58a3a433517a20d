// Verbs of what records, and says what can be recorded.
#pragma once

namespace lockstep::cli {

// Returns the command's exit code; if the command died by a signal, this process does too.
int run_record(int argc, char** argv);
int run_collect(int argc, char** argv);
int run_doctor(int argc, char** argv);

}  // namespace lockstep::cli

#pragma once

namespace lockstep::cli {

// `lockstep record`. Returns the command's exit code; if the command died by a signal, this process does too.
int record_command(int argc, char** argv);
// The same, named as the other verbs are.
inline int run_record(int argc, char** argv) {
  return record_command(argc, argv);
}

}  // namespace lockstep::cli

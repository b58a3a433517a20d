// The verb `lockstep record`: what the command line asks, handed to the recorder.
#pragma once

namespace lockstep::cli {

// `lockstep record`. Returns the command's exit code; if the command died by a signal, this process does too.
int run_record(int argc, char** argv);

}  // namespace lockstep::cli

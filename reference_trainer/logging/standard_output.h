// What a rank prints for its user: one line at a time, at once.
#pragma once

#include <string>

namespace lockstep::trainer {

// From here on writing to a peer or a reader that is gone is an error (EPIPE), not the end of the process:
// Gloo writes to its sockets with writev(), which raises SIGPIPE in a rank whose peer was killed, and the
// rank would end without a word. As Python does.
void ignore_broken_pipes();

// Prints `line` and a line break. If nobody reads standard output any more (`| head`), ends the process by
// SIGPIPE, as if it had not been ignored.
void print_line(const std::string& line);

}  // namespace lockstep::trainer

// stdin, stdout and stderr of a command: they may be closed, full, without a reader, or a terminal that is
// gone.
#pragma once

#include <string_view>

namespace lockstep {

// Writes to stderr what can be written. Whatever goes wrong, the rest is lost and nobody is told: no
// exception, no SIGPIPE, and no waiting for more than two seconds for a reader that has stopped
// reading, once until it reads on.
// Allocates nothing; safe in signal handlers. Keeps errno.
void write_to_stderr(std::string_view text) noexcept;

// The same for text that may hold what somebody else chose, names of files and arguments: control characters
// but line breaks and tabs are written as \x1b, so that they can't speak to the terminal.
void tell(std::string_view text) noexcept;

// So that no file that is opened later gets the number of a standard stream that is closed, and with it what
// is meant for people. Reading and writing fail as before; programs that are executed find them closed.
void hold_closed_streams() noexcept;

// What is written beyond a limit on the size of files (RLIMIT_FSIZE) is an error of that call from here on;
// SIGXFSZ would end the process without a word. Programs that are executed inherit that.
void fail_at_file_size_limit() noexcept;
// Whether that has changed how the process takes SIGXFSZ: what it starts should take it as before.
bool is_file_size_signal_ignored_by_us() noexcept;

}  // namespace lockstep

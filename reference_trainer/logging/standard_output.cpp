#include "reference_trainer/logging/standard_output.h"

#include <cerrno>
#include <csignal>
#include <cstdio>

namespace lockstep::trainer {

void ignore_broken_pipes() {
  std::signal(SIGPIPE, SIG_IGN);
}

void print_line(const std::string& line) {
  errno = 0;
  const bool written = std::puts(line.c_str()) >= 0 && std::fflush(stdout) == 0;
  if (written || errno != EPIPE) return;
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

}  // namespace lockstep::trainer

#include "cli/output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <iostream>

namespace lockstep::cli {

Status write_to_stdout(const std::function<void(std::ostream&)>& write) {
  std::ios::sync_with_stdio(false);
  errno = 0;
  write(std::cout);
  std::cout.flush();
  if (std::cout || errno == EPIPE) return {};
  return Error{
      fmt::format("cannot write to stdout: {}", errno == 0 ? "the write failed" : std::strerror(errno))};
}

}  // namespace lockstep::cli

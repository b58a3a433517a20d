#include "base/standard_output.h"

#include <cerrno>
#include <cstring>
#include <iostream>
#include <string>

namespace lockstep {

Status write_to_stdout(const std::function<void(std::ostream&)>& write) {
  std::ios::sync_with_stdio(false);
  errno = 0;
  write(std::cout);
  std::cout.flush();
  if (std::cout || errno == EPIPE) return {};
  return Error{std::string("cannot write to stdout: ") +
               (errno == 0 ? "the write failed" : std::strerror(errno))};
}

}  // namespace lockstep

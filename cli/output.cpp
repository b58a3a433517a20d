#include "cli/output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <iostream>

#include "base/standard_streams.h"
#include "cli/verb.h"

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

int print_to_stdout(std::string_view name, std::string_view text) {
  const Status status = write_to_stdout([text](std::ostream& out) { out << text; });
  if (status.ok()) return kSuccess;
  tell(fmt::format("{}: {}\n", name, status.error().message));
  return kFailure;
}

}  // namespace lockstep::cli

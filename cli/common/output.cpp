#include "cli/common/output.h"

#include <fmt/format.h>

#include "base/output_file.h"
#include "base/standard_streams.h"
#include "cli/common/exit_codes.h"

namespace lockstep::cli {

Status write_file(const char* flag, const std::string& path,
                  const std::function<void(std::ostream&)>& write) {
  const auto named = [&](const Error& error) {
    return Error{fmt::format("{} {}: {}", flag, path, error.message)};
  };
  Result<OutputFile> file = OutputFile::create(path, Overwrite::allow);
  if (!file.ok()) return named(file.error());
  write(file.value().stream());
  if (const Status status = file.value().commit(); !status.ok()) return named(status.error());
  return {};
}

int print_to_stdout(std::string_view name, std::string_view text) {
  const Status status = write_to_stdout([text](std::ostream& out) { out << text; });
  if (status.ok()) return kSuccess;
  tell(fmt::format("{}: {}\n", name, status.error().message));
  return kFailure;
}

}  // namespace lockstep::cli

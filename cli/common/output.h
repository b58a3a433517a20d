// Writing files and texts so that nothing fails silently.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/standard_output.h"

namespace lockstep::cli {

// Writes a file that a flag names, whole or not at all; an older one is replaced, for a report can be made
// again at any time. The error names flag and path.
Status write_file(const char* flag, const std::string& path, const std::function<void(std::ostream&)>& write);

// To stdout a text that is all a program has to say, help or version, as exit code. `name`: "lockstep
// analyze", for stderr.
int print_to_stdout(std::string_view name, std::string_view text);

}  // namespace lockstep::cli

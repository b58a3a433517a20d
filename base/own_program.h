// Where the program that runs lies, beside which its libraries and its siblings are.
#pragma once

#include <filesystem>
#include <system_error>

namespace lockstep {

// The executable's absolute path: without links, as the kernel tells it, or, without /proc, as the program
// was started. Where neither is known `error` says why, and the path is empty.
std::filesystem::path own_program(std::error_code& error);

}  // namespace lockstep

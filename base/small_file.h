// Small files, of /proc or not, read at once.
#pragma once

#include <string>

namespace lockstep {

// As text, at most 64 KiB of it; empty where it can't be read.
std::string read_small_file(const std::string& path);

}  // namespace lockstep

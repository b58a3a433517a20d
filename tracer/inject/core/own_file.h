// Reading small files of /proc and /sys in a process that is not ours: through a descriptor that is checked
// to be ours (own_descriptor.h), and without moving anybody's place in a file.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lockstep::tracer {

// As much of the file as fits; empty if it can't be read. Allocates nothing.
std::string_view read_own_file(const char* path, std::span<char> buffer) noexcept;

// The first 64 KiB at most. Throws for want of memory alone.
std::string read_own_file(const std::string& path);

}  // namespace lockstep::tracer

// Small files, of /proc or not, read at once and written at once.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lockstep {

inline constexpr std::size_t kSmallFile = std::size_t{64} << 10U;
inline constexpr std::size_t kWholeFile = std::numeric_limits<std::size_t>::max();

// A descriptor for reading, which the caller closes; -1, with errno, where there is none to be had. What is
// no regular file is not opened: a named pipe would be waited for until somebody writes into it, and so might
// a device.
int open_regular_file(const std::string& path) noexcept;

// As text, at most `most` bytes of it; empty where it can't be read or is no regular file. What can be
// read of a file that vanishes meanwhile, one of /proc or on a network disk. Throws for want of memory alone.
std::string read_small_file(const std::string& path, std::size_t most = kSmallFile);

// All of it or nothing: nothing, with errno, where some of it can't be read, or it is no regular file. Throws
// for want of memory alone.
std::optional<std::string> read_all_or_nothing(const std::string& path);

// False, with errno: not all of it could be written.
bool write_whole(int file, std::string_view text) noexcept;

// Returns once what was written stands on the disk, and is there after the loss of the machine too. False,
// with errno: it may not. A file system that has no such promise is taken for one that keeps it.
bool put_on_disk(int file) noexcept;

// In the place of what has the name, at once: under the name with ".part" at first, so that nobody reads half
// of it. One at a time for each name. Whatever has one of the names is not opened, which OutputFile does with
// pipes and devices: they are what somebody wants to write to there, and in the way here. The error names the
// file and the reason; then what was there is there.
Status replace_small_file(const std::string& path, std::string_view text);

}  // namespace lockstep

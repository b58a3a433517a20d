// Small files, of /proc or not, read at once.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

namespace lockstep {

inline constexpr std::size_t kSmallFile = std::size_t{64} << 10U;
inline constexpr std::size_t kWholeFile = std::numeric_limits<std::size_t>::max();

// As text, at most `most` bytes of it; empty where it can't be read. What can be read of a file that vanishes
// meanwhile, one of /proc or on a network disk. Throws for want of memory alone.
std::string read_small_file(const std::string& path, std::size_t most = kSmallFile);

}  // namespace lockstep

// `--memory 4G`: a verb that works on more than fits into memory.
//
// Blocks of the heap from kLargeBlock bytes on lie in a SpillSpace from then on (operators.cpp: the new and
// delete of the whole program, so that no code of the analyzer knows of it and the result is the same), and a
// thread beside takes them out of RAM whenever the process comes near the limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace lockstep::cli {

// The tables of ranks and what is computed of them; what is smaller stays in memory.
inline constexpr std::size_t kLargeBlock = std::size_t{128} << 10U;
// The program itself takes 30 MB.
inline constexpr std::uint64_t kLeastLimit = 64'000'000;

// Once a process, before anything large is allocated. The file is made in `folder`; empty: in that which
// TMPDIR names, else /var/tmp. Errors name --memory or --scratch.
Status limit_memory(std::uint64_t bytes, const std::string& folder);

// What to tell at the end: empty, or that it took more than the limit after all, with the figure. Small
// blocks can't be kept on a disk, and on a busy machine the thread beside may come late.
std::string limit_exceeded();

// Whether the disk had no room for a block.
bool disk_refused();
// Why memory ran out: the disk, where it was that, or "out of memory".
std::string why_out_of_memory();

}  // namespace lockstep::cli

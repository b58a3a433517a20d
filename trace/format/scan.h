// Finds the chunks of a file: by its footer, or by going from chunk to chunk.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/format/schema.h"

namespace lockstep::trace::format {

// All chunks but index chunks, in file order, as the footer lists them. Reads the trailer and the index
// chunks only. Nothing if there is no trailer, or with a warning if what it points to is damaged.
std::optional<std::vector<IndexEntry>> read_index(std::span<const std::byte> file,
                                                  std::vector<std::string>& warnings);

// The same by looking at every chunk header. What is damaged or missing becomes warnings, among them always
// one that says that there is no usable footer.
// `has_gaps` becomes true where damaged bytes were skipped, so that nobody knows what they held.
std::vector<IndexEntry> scan(std::span<const std::byte> file, std::vector<std::string>& warnings,
                             bool& has_gaps);

}  // namespace lockstep::trace::format

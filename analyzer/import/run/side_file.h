// JSON that the recorder writes beside the traces: its manifest, clock readings, what a rank did when the job
// hung.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace lockstep::analyzer::run {

// A manifest of ten thousand ranks has a few MiB, a week of clock readings less. What is longer is none of
// them, and would take ten times its length of memory.
inline constexpr std::size_t kLongestSideFile = std::size_t{64} << 20U;

// Discarded where it can't be read, is longer than that, or is no JSON. `changed` becomes whether the file
// has a checksum that is not its own (trace/checked_json.h).
nlohmann::json parse_side_file(const std::filesystem::path& path, bool* changed = nullptr);

}  // namespace lockstep::analyzer::run

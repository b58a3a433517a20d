// Reading files and folders of /proc and /sys without allocating memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tracer/inject/sources/host/proc_text.h"

namespace lockstep::tracer::host {

// Of a file that holds nothing else (core/own_file.h).
Amount read_number(const char* path) noexcept;

// Fills `numbers` with the folder's entries whose names are numbers (/proc/self/task); returns how many.
// Stops when there is no more room.
std::size_t list_numbers(const char* folder, std::span<std::uint32_t> numbers) noexcept;

}  // namespace lockstep::tracer::host

// What `lockstep record` says when the job is over, a paragraph an entry.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tracer/recorder/manifest.h"

namespace lockstep::tracer::record {

// Of a run of which something was recorded. `run` is the folder as the user will type it. Precondition:
// manifest.recording is there.
std::vector<std::string> summarize(const Manifest& manifest, const std::string& run);

// Of one that left no trace file: the likely reason first. `reasons` are those that the command itself shows
// (doctor/nothing_recorded.h).
std::vector<std::string> explain_nothing(const Manifest& manifest, const std::vector<std::string>& reasons);

// "--steps 100:110", "--delay 10s --duration 2s"; empty where the whole job was to be recorded.
std::string window_in_words(const control::Plan& plan);

// Broken into lines of at most `width` columns, with two blanks before all but the first. Words are not
// broken.
std::string wrapped(std::string_view text, std::size_t width);

}  // namespace lockstep::tracer::record

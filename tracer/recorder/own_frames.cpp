#include "tracer/recorder/own_frames.h"

#include <algorithm>
#include <utility>

namespace lockstep::tracer::record {

namespace {

constexpr std::string_view kLibrary = "liblockstep-inject.so";
constexpr std::string_view kHookFolder = "/lockstep/python/";

bool is_in(const std::string& frame, std::string_view library) {
  return frame.find(library) != std::string::npos;
}

bool is_of_c_library(const std::string& frame) {
  return is_in(frame, "libc.so") || is_in(frame, "ld-linux") || is_in(frame, "libpthread") ||
         is_in(frame, "[vdso]") || is_in(frame, "libstdc++.so");
}

bool is_own_thread(const ThreadStack& thread) {
  const auto is_own = [](const std::string& frame) { return is_in(frame, kLibrary); };
  const auto tells_nothing = [&](const std::string& frame) {
    return is_own(frame) || is_of_c_library(frame);
  };
  return std::any_of(thread.frames.begin(), thread.frames.end(), is_own) &&
         std::all_of(thread.frames.begin(), thread.frames.end(), tells_nothing);
}

}  // namespace

void hide_own_frames(std::vector<ThreadStack>& threads) {
  if (threads.empty()) return;
  // The main thread is the job's, whatever it is in.
  threads.erase(std::remove_if(threads.begin() + 1, threads.end(), is_own_thread), threads.end());
  for (ThreadStack& thread : threads)
    std::erase_if(thread.frames, [](const std::string& frame) { return is_in(frame, kLibrary); });
}

std::string without_own_frames(std::string_view python_stacks) {
  std::string kept;
  kept.reserve(python_stacks.size());
  std::string headline;  // of the thread that is read, until a frame of it is kept
  bool has_own = false;
  while (!python_stacks.empty()) {
    const std::size_t end = std::min(python_stacks.find('\n'), python_stacks.size() - 1);
    const std::string_view line = python_stacks.substr(0, end + 1);
    const std::size_t file = line.find("File \"");
    const bool is_own = file != std::string_view::npos &&
                        line.substr(0, line.rfind('"')).find(kHookFolder, file) != std::string_view::npos;
    python_stacks.remove_prefix(end + 1);
    if (is_own) {
      has_own = true;
      continue;
    }
    // A thread that is ours alone is left out with its headline.
    if (line.starts_with("  ") && !headline.empty()) kept += std::exchange(headline, {});
    if (line.starts_with("Thread ") || line.starts_with("Current thread ")) {
      if (!has_own) kept += headline;
      headline = line;
      has_own = false;
    } else if (headline.empty()) {
      kept += line;
    } else if (!has_own) {
      headline += line;
    }
  }
  if (!has_own) kept += headline;
  return kept;
}

}  // namespace lockstep::tracer::record

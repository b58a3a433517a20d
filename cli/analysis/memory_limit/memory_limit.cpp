#include "cli/analysis/memory_limit/memory_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "cli/analysis/memory_limit/large_blocks.h"
#include "cli/analysis/memory_limit/resident.h"

namespace lockstep::cli {

constinit LargeBlocks large_blocks;

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kPart = std::uint64_t{16} << 20U;
constexpr std::uint64_t kRoom = std::uint64_t{256} << 20U;

std::uint64_t limit = 0;
std::string* scratch = nullptr;

// Never returns. Where other programs keep the cores busy a look may come late, while the analysis goes on:
// hence the room that is left for what comes in between.
[[noreturn]] void keep_below_limit() {
  const Resident resident;
  const std::uint64_t high = limit - std::max(limit / 4, std::min(limit / 2, kRoom));
  const std::uint64_t low = high - limit / 8;
  auto pause = 5ms;
  for (;;) {
    std::this_thread::sleep_for(pause);
    const Resident::Bytes before = resident.look();
    // A table that is read from one end to the other comes in at 10 GB/s.
    pause = before.all > high / 2 ? 1ms : 5ms;
    if (before.all < high) continue;
    const std::uint64_t extent = large_blocks.space.extent();
    if (before.all > high + (limit - high) / 2) {
      large_blocks.space.take_out(extent);
    } else {
      for (std::uint64_t gone = 0; gone < extent && resident.now() > low; gone += kPart)
        large_blocks.space.take_out(kPart);
    }
    // Small blocks alone are too much: to take large ones out again and again would help nobody.
    if (before.anonymous > high) std::this_thread::sleep_for(100ms);
  }
}

std::string in_words(std::uint64_t bytes) {
  const auto size = static_cast<double>(bytes);
  return size < 1e9 ? fmt::format("{:.0f} MB", size / 1e6) : fmt::format("{:.1f} GB", size / 1e9);
}

}  // namespace

Status limit_memory(std::uint64_t bytes, const std::string& folder) {
  if (bytes < kLeastLimit)
    return Error{
        fmt::format("--memory: {} are too few; give {} or more", in_words(bytes), in_words(kLeastLimit))};
  if (Resident().now() == 0)
    return Error{"--memory: the system does not tell how much this process takes (no /proc/self/statm)"};
  const char* const variable = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): before any thread
  const std::string temporary = variable != nullptr ? variable : "";
  scratch = new std::string(!folder.empty() ? folder : !temporary.empty() ? temporary : "/var/tmp");
  if (const Status opened = large_blocks.space.open(*scratch); !opened.ok())
    return Error{(folder.empty() && !temporary.empty() ? "TMPDIR " : "--scratch ") + opened.error().message};
  limit = bytes;
  try {
    std::thread(keep_below_limit).detach();
  } catch (const std::system_error& error) {
    return Error{fmt::format("--memory: no thread could be started ({})", error.what())};
  }
  return {};
}

std::string limit_exceeded() {
  if (limit == 0 || most_resident() <= limit) return {};
  return fmt::format("--memory {}: it took {} at its peak", in_words(limit), in_words(most_resident()));
}

bool disk_refused() {
  return large_blocks.space.why_not() != 0;
}

std::string why_out_of_memory() {
  const int error = large_blocks.space.why_not();
  if (error == 0 || scratch == nullptr) return "out of memory";
  return fmt::format(
      "out of memory: what --memory leaves no room for is kept in '{}', which takes no more ({}); name "
      "another folder with --scratch",
      *scratch, std::strerror(error));  // NOLINT(concurrency-mt-unsafe): glibc's is safe
}

}  // namespace lockstep::cli

#include "cli/analysis/memory_limit/memory_limit.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "cli/analysis/memory_limit/large_blocks.h"
#include "cli/analysis/memory_limit/pressure.h"
#include "cli/analysis/memory_limit/resident.h"
#include "cli/analysis/memory_limit/running_time.h"

namespace lockstep::cli {

constinit LargeBlocks large_blocks;
constinit std::atomic<Pressure*> pressure{nullptr};

namespace {

using namespace std::chrono_literals;

std::uint64_t limit = 0;
std::string* scratch = nullptr;

// What comes back into RAM is touched by threads that run, and these look themselves, however long a thread
// beside waits for a core meanwhile.
void look(int /*signal*/) {
  const int saved = errno;
  if (Pressure* const kept = pressure.load(std::memory_order_acquire)) kept->relieve_in_handler();
  errno = saved;
}

// Never returns. Who allocates makes room too (pressure.h), and who runs; this is for what neither sees.
[[noreturn]] void keep_below_limit(Pressure& kept) {
  auto pause = 5ms;
  for (;;) {
    std::this_thread::sleep_for(pause);
    // A table that is read from one end to the other comes in at 10 GB/s.
    pause = kept.relieve().all > kept.high() / 2 ? 1ms : 5ms;
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
  auto* const kept = new Pressure(bytes, large_blocks.space);
  pressure.store(kept, std::memory_order_release);
  call_by_running_time(look);  // where it is refused, the thread beside is there all the same
  try {
    std::thread([kept] { keep_below_limit(*kept); }).detach();
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

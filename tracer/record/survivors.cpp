#include "tracer/record/survivors.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "tracer/record/run_folder.h"

namespace lockstep::tracer::record {

namespace {

using namespace std::chrono_literals;

// A survivor gives up after three seconds.
constexpr auto kPatience = 4s;
constexpr auto kPause = 2ms;

// Writers hold a shared lock while they have the file open.
bool is_written(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool taken = ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  return taken;
}

}  // namespace

void await_survivors(const std::filesystem::path& folder) {
  const auto last = std::chrono::steady_clock::now() + kPatience;
  for (const std::filesystem::path& file : trace_files(folder)) {
    while (is_written(file) && std::chrono::steady_clock::now() < last) std::this_thread::sleep_for(kPause);
  }
}

}  // namespace lockstep::tracer::record

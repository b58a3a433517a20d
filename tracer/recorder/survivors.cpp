#include "tracer/recorder/survivors.h"

#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "base/numbers.h"
#include "base/small_file.h"
#include "trace/reader.h"
#include "tracer/recorder/process_state.h"
#include "tracer/recorder/run_folder.h"

namespace lockstep::tracer::record {

namespace {

using namespace std::chrono_literals;

// A survivor gives up after three seconds.
constexpr auto kPatience = 4s;
constexpr auto kPause = 2ms;

// A survivor holds a shared lock on its file as long as it lives.
bool is_locked(const std::filesystem::path& path) {
  const int file = open_regular_file(path.string());
  if (file < 0) return false;
  const bool locked = ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  return locked;
}

// Its process is dead, and what it left is being written.
bool is_written(const std::filesystem::path& path) {
  if (!is_locked(path)) return false;
  const Result<trace::Reader> reader = trace::Reader::open(path);
  if (!reader.ok()) return true;
  const auto process = reader.value().metadata().find("process");
  return process == reader.value().metadata().end() ||
         !lives(parse_number<pid_t>(process->second).value_or(0));
}

}  // namespace

bool await_survivors(const std::filesystem::path& folder) {
  const auto last = std::chrono::steady_clock::now() + kPatience;
  for (const std::filesystem::path& file : trace_files(folder)) {
    while (is_written(file)) {
      if (std::chrono::steady_clock::now() >= last) return false;
      std::this_thread::sleep_for(kPause);
    }
  }
  return true;
}

}  // namespace lockstep::tracer::record

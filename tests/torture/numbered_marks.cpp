// numbered_marks FILE: NVTX marks "0", "1", "2", … every tenth of a millisecond, until FILE says stop. How
// many calls have returned stands in FILE, which outlives the process. Where FILE says so, the disk is slow:
// write() to a trace file, which the recording thread calls, rests when half is written.
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/torture/progress.h"

using lockstep::torture::Ending;
using lockstep::torture::Progress;

namespace {

Progress* the_progress = nullptr;

ssize_t write_now(int file, const void* bytes, size_t size) {
  return syscall(SYS_write, file, bytes, size);
}

}  // namespace

// In place of libc's.
extern "C" ssize_t write(int file, const void* bytes, size_t size) {
  // Trace files have high numbers (output_file.cpp); what else is written, once when recording begins, has
  // not.
  if (the_progress == nullptr || the_progress->slow_disk.load() == 0 || file < 512 || size < 2)
    return write_now(file, bytes, size);
  const ssize_t first = write_now(file, bytes, size / 2);
  if (first != static_cast<ssize_t>(size / 2)) return first;
  the_progress->half_written.fetch_add(1);
  const timespec rest{0, 300'000'000};
  nanosleep(&rest, nullptr);
  const ssize_t second = write_now(file, static_cast<const char*>(bytes) + first, size - size / 2);
  return second < 0 ? first : first + second;
}

int main(int argc, char** argv) {
  const int file = argc == 2 ? open(argv[1], O_RDWR) : -1;
  if (file < 0) return 2;
  void* const memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return 2;
  auto* const progress = the_progress = static_cast<Progress*>(memory);
  progress->process.store(getpid());
  const timespec pause{0, 100'000};
  for (long number = 0; progress->ending.load() == Ending::none; ++number) {
    char text[32];
    std::snprintf(text, sizeof text, "%ld", number);
    nvtxMarkA(text);
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    progress->last_returned.store(static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec);
    progress->marks.store(number + 1);
    nanosleep(&pause, nullptr);
  }
  switch (progress->ending.load()) {
    case Ending::exit_at_once:
      _exit(7);
    case Ending::abort:
      std::abort();
    case Ending::execute:
      execl("/bin/sh", "sh", "-c", "exit 7", static_cast<char*>(nullptr));
      return 2;
    default:
      return 0;
  }
}

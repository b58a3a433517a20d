// numbered_marks FILE [worker]: NVTX marks "0", "1", "2", … every tenth of a millisecond, until FILE says
// stop. How many calls have returned stands in FILE, which outlives the process, and how long the machine
// kept the thread from running that writes the trace file. Where FILE says so, the disk is slow: write() to a
// trace file, which that thread calls, rests when half is written. With `worker` all this is a child's,
// forked from a process that is recorded, as a data loader's: that one waits for it and ends with its exit
// code.
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/torture/progress.h"

using lockstep::torture::Beat;
using lockstep::torture::Ending;
using lockstep::torture::kBeatNanoseconds;
using lockstep::torture::kBeats;
using lockstep::torture::Progress;

namespace {

Progress* the_progress = nullptr;

// The thread that writes the trace file; 0 until it first does.
std::atomic<pid_t> the_writer{0};
std::atomic<clockid_t> the_writers_clock{};

std::int64_t nanoseconds_of(clockid_t clock) {
  timespec now{};
  if (clock_gettime(clock, &now) != 0) return 0;
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

void note_writer() {
  clockid_t clock{};
  if (the_writer.load() != 0 || pthread_getcpuclockid(pthread_self(), &clock) != 0) return;
  the_writers_clock.store(clock);
  the_writer.store(gettid());
}

// Whether it would run if it were let: the letter behind the name in its stat.
bool writer_wants_to_run() {
  char path[64], text[256];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", the_writer.load());
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  text[std::max<ssize_t>(size, 0)] = '\0';
  const char* const name_end = std::strrchr(text, ')');
  return name_end != nullptr &&
         (std::strncmp(name_end, ") R", 3) == 0 || std::strncmp(name_end, ") D", 3) == 0);
}

void* watch_writer(void*) {
  std::int64_t last = nanoseconds_of(CLOCK_MONOTONIC), last_computed = 0, held_up = 0;
  bool wants_to_run = false;
  for (std::int64_t number = 0;; ++number) {
    const std::int64_t now = nanoseconds_of(CLOCK_MONOTONIC);
    const std::int64_t computed = the_writer.load() == 0 ? 0 : nanoseconds_of(the_writers_clock.load());
    if (now - last > 2 * kBeatNanoseconds) {
      held_up += now - last - kBeatNanoseconds;
    } else if (wants_to_run) {
      // What it computed was no waiting.
      held_up += std::max<std::int64_t>(now - last - std::max<std::int64_t>(computed - last_computed, 0), 0);
    }
    last = now;
    last_computed = computed;
    wants_to_run = the_writer.load() != 0 && writer_wants_to_run();
    Beat& beat = the_progress->beat[static_cast<std::size_t>(number) % kBeats];
    beat.time.store(now);
    beat.held_up.store(held_up);
    the_progress->beats.store(number + 1);
    const timespec pause{0, kBeatNanoseconds};
    nanosleep(&pause, nullptr);
  }
  return nullptr;
}

// Returns once the first beat is there.
bool start_watching() {
  pthread_t thread{};
  if (pthread_create(&thread, nullptr, watch_writer, nullptr) != 0) return false;
  pthread_detach(thread);
  const timespec pause{0, 100'000};
  while (the_progress->beats.load() == 0) nanosleep(&pause, nullptr);
  return true;
}

// As a stray pointer does it. A sanitizer would report that, and end the process in its own way.
__attribute__((no_sanitize("undefined", "address", "thread"))) void crash() {
  std::signal(SIGSEGV, SIG_DFL);
  volatile int* nowhere = nullptr;
  *nowhere = 1;
}

ssize_t write_now(int file, const void* bytes, size_t size) {
  return syscall(SYS_write, file, bytes, size);
}

}  // namespace

// In place of libc's.
extern "C" ssize_t write(int file, const void* bytes, size_t size) {
  // Trace files have high numbers (output_file.cpp); what else is written, once when recording begins, has
  // not.
  if (the_progress == nullptr || file < 512) return write_now(file, bytes, size);
  note_writer();
  if (the_progress->slow_disk.load() == 0 || size < 2) return write_now(file, bytes, size);
  const ssize_t first = write_now(file, bytes, size / 2);
  if (first != static_cast<ssize_t>(size / 2)) return first;
  the_progress->half_written.fetch_add(1);
  const timespec rest{0, 300'000'000};
  nanosleep(&rest, nullptr);
  const ssize_t second = write_now(file, static_cast<const char*>(bytes) + first, size - size / 2);
  return second < 0 ? first : first + second;
}

int main(int argc, char** argv) {
  const int file = argc == 2 || argc == 3 ? open(argv[1], O_RDWR) : -1;
  if (file < 0) return 2;
  void* const memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return 2;
  if (argc == 3) {
    nvtxMarkA("the parent");
    const pid_t child = fork();
    int status = 0;
    if (child != 0)
      return child > 0 && waitpid(child, &status, 0) == child
                 ? (WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status))
                 : 2;
  }
  auto* const progress = the_progress = static_cast<Progress*>(memory);
  if (!start_watching()) return 2;
  progress->process.store(getpid());
  const timespec pause{0, 100'000};
  for (long number = 0; progress->ending.load() == Ending::none; ++number) {
    char text[32];
    std::snprintf(text, sizeof text, "%ld", number);
    nvtxMarkA(text);
    const std::int64_t now = nanoseconds_of(CLOCK_MONOTONIC);
    if (number == 0) progress->first_returned.store(now);
    progress->last_returned.store(now);
    progress->marks.store(number + 1);
    nanosleep(&pause, nullptr);
  }
  switch (progress->ending.load()) {
    case Ending::exit_at_once:
      _exit(7);
    case Ending::abort:
      std::abort();
    case Ending::crash:
      crash();
      return 2;
    case Ending::execute:
      execl("/bin/sh", "sh", "-c", "exit 7", static_cast<char*>(nullptr));
      return 2;
    default:
      return 0;
  }
}

// Burns processor time, touches memory and sleeps, in a child whose use of the machine is then known from the
// kernel. The child prints what it used between two instants at which it was being watched, this process what
// it used altogether.
//
//   host_load MILLISECONDS MEGABYTES SLEEPS
#include <nvtx3/nvToolsExt.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

void print(const char* what, const rusage& usage) {
  const auto microseconds = [](const timeval& time) { return time.tv_sec * 1'000'000L + time.tv_usec; };
  // How long this thread was ready to run and did not; 0 where the kernel does not say.
  unsigned long long running = 0;
  unsigned long long waiting = 0;
  std::ifstream("/proc/thread-self/schedstat") >> running >> waiting;
  std::printf("%s waiting_ns %llu\n", what, waiting);
  std::printf("%s user_us %ld system_us %ld minor %ld major %ld voluntary %ld involuntary %ld\n", what,
              microseconds(usage.ru_utime), microseconds(usage.ru_stime), usage.ru_minflt, usage.ru_majflt,
              usage.ru_nvcsw, usage.ru_nivcsw);
  std::fflush(stdout);
}

// True once a thread of that name has slept: its first look at us is over.
bool has_slept(const std::string& name) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::ifstream file(entry.path() / "status");
    std::string line;
    bool is_it = false;
    while (std::getline(file, line)) {
      if (line == "Name:\t" + name) is_it = true;
      if (is_it && line.starts_with("voluntary_ctxt_switches:") && !line.ends_with("\t0")) return true;
    }
  }
  return false;
}

void sleep_milliseconds(long milliseconds) {
  const timespec time{milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  nanosleep(&time, nullptr);
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

int child(double seconds, std::size_t bytes, int sleeps) {
  nvtxRangePushA("load");
  for (int i = 0; i < 3000 && !has_slept("lockstep host"); ++i) sleep_milliseconds(10);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  print("begin", usage);
  const double end = processor_seconds() + seconds;
  volatile unsigned work = 1;
  while (processor_seconds() < end) {
    for (int i = 0; i < 10000; ++i) work = work * 1664525U + 1013904223U;
  }
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  std::memset(memory, 1, bytes);
  for (int i = 0; i < sleeps; ++i) sleep_milliseconds(1);
  getrusage(RUSAGE_SELF, &usage);
  print("end", usage);
  nvtxRangePop();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const pid_t process = fork();
  if (process == 0) {
    std::exit(
        child(std::atof(argv[1]) * 1e-3, std::strtoul(argv[2], nullptr, 10) << 20U, std::atoi(argv[3])));
  }
  int status = 0;
  rusage usage{};
  if (wait4(process, &status, 0, &usage) != process) return 3;
  print("all", usage);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 4;
}

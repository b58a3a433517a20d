// A job that a hard time comes over: `hard_times SOURCE TIME FOLDER`. It emits a first part, waits for the
// file FOLDER/go, lets the hard time happen, and emits a second part if it still can. It knows nothing of
// Lockstep, and prints the same whether it is recorded or not.
#include "tests/end_to_end/programs/hard_times.h"

#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <latch>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/end_to_end/programs/hard_sources.h"
#include "tests/sanitizers.h"

namespace hard_times {
namespace {

struct Job {
  std::unique_ptr<Emitter> emitter;
  std::string folder;
  char** arguments = nullptr;

  std::string path(const char* name) const { return folder + "/" + name; }
  void await(const char* name) const {
    const std::string file = path(name);
    for (int i = 0; i < 30'000; ++i) {
      if (access(file.c_str(), F_OK) == 0) return;
      usleep(2000);
    }
    _exit(99);
  }
  void leave(const char* name) const {
    const int file = open(path(name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0) close(file);
  }
  void second() const { emitter->emit(kFirst, kSecond); }
};

[[noreturn]] void not_possible() {
  std::fflush(stdout);
  _exit(kNotPossible);
}

void no_core_file() {
  prctl(PR_SET_DUMPABLE, 0);
}

void killed(const Job& job) {
  job.second();
  kill(getpid(), SIGKILL);
}

void aborts(const Job& job) {
  no_core_file();
  job.second();
  std::abort();
}

void underscore_exit(const Job& job) {
  job.second();
  _exit(kExitCode);
}

void exec(const Job& job) {
  execl("/proc/self/exe", job.arguments[0], job.arguments[1], "after_exec", job.arguments[3], nullptr);
}

// As daemons do, and then uses the numbers for files of its own. What is in them must stay what it wrote.
void close_descriptors(const Job& job) {
  for (int i = 3; i < 1024; ++i) close(i);
  std::array<int, 64> own{};
  for (int& file : own) file = open(job.path("own").c_str(), O_RDWR | O_CREAT, 0600);
  job.second();
  job.await("end");
  for (const int file : own) {
    if (file < 0 || fcntl(file, F_GETFD) < 0) std::puts("a descriptor was closed");
  }
  struct stat status {};
  if (fstat(own[0], &status) != 0 || status.st_size != 0) std::puts("the file was written to");
}

// The folder that it is in is gone, too.
void change_folder(const Job& job) {
  const std::string gone = job.path("gone");
  if (mkdir(gone.c_str(), 0700) != 0 || chdir(gone.c_str()) != 0 || rmdir(gone.c_str()) != 0) not_possible();
  job.second();
}

void drop_privileges(const Job& job) {
  constexpr unsigned kNobody = 65534;
  if (setgid(kNobody) != 0 || setuid(kNobody) != 0) not_possible();
  job.second();
}

// A mount namespace in which the folder, and the run in it, is hidden.
void hide_folder(const Job& job) {
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("none", job.folder.c_str(), "tmpfs", 0, "size=64k") != 0) {
    not_possible();
  }
}

void other_namespace(const Job& job) {
  hide_folder(job);
  job.second();
}

// No room for more than there is, in files and in memory.
void limit_files(const Job& job) {
  const rlimit limit{64, RLIM_INFINITY};  // its own output is shorter
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) not_possible();
  job.second();
  job.await("end");
}

void limit_memory(const Job& job) {
  // Room of its own, so that nothing of what it does itself fails.
  constexpr std::size_t kOwn = std::size_t{8} << 20U;
  mallopt(M_MMAP_THRESHOLD, static_cast<int>(2 * kOwn));
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(4 * kOwn));
  void* const own = std::malloc(kOwn);
  std::free(own);
  unsigned long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = pages * static_cast<unsigned long>(sysconf(_SC_PAGESIZE));
  const rlimit limit{bytes, bytes};
  if (pages == 0 || setrlimit(RLIMIT_AS, &limit) != 0) not_possible();
  job.second();
}

// More than rings hold where nobody empties them; in pieces, so that files grow where somebody does.
void flood(const Job& job) {
  constexpr int kPieces = 100;
  for (int i = 0; i < kPieces; ++i) {
    job.emitter->emit(kFirst + i * (kFlood / kPieces), kFlood / kPieces);
    usleep(1000);
  }
  job.leave("flooded");
  job.await("end");
}

// All alive at once.
void threads(const Job& job) {
  std::latch begun{kThreads};
  std::vector<std::thread> all;
  all.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    all.emplace_back([&, i] {
      begun.arrive_and_wait();
      job.emitter->emit(kFirst + i, 1);
    });
  }
  for (std::thread& thread : all) thread.join();
}

// glibc's allocator sees to it that a forked child can use it, whatever other threads were doing. That of
// AddressSanitizer does not (GCC 12): there no thread of the program may be in it at a fork, nor begin or
// end.
constexpr bool kAllocatorSurvivesForks = !lockstep::kAddressSanitized;

// While another thread emits.
void fork_storm(const Job& job) {
  std::mutex allocator;
  const auto in_allocator = [&allocator] {
    return kAllocatorSurvivesForks ? std::unique_lock<std::mutex>() : std::unique_lock(allocator);
  };
  std::latch has_begun(kAllocatorSurvivesForks ? 0 : 1), forks_are_over(1);
  std::thread busy([&] {
    for (int i = 0; i < kSecond; ++i) {
      {
        const auto lock = in_allocator();
        job.emitter->emit(kFirst + i, 1);
      }
      if (!kAllocatorSurvivesForks && i == 0) has_begun.count_down();
      if (i % 10 == 9) usleep(1000);
    }
    forks_are_over.wait();
  });
  has_begun.wait();
  std::vector<pid_t> children;
  for (int i = 1; i <= kChildren; ++i) {
    const pid_t child = [&] {
      const auto lock = in_allocator();
      return fork();
    }();
    if (child == 0) {
      job.emitter->after_fork_in_child();
      job.emitter->emit(i * kChildBase, kOfChild);
      std::exit(0);
    }
    children.push_back(child);
  }
  forks_are_over.count_down();
  busy.join();
  for (const pid_t child : children) {
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) std::puts("a child failed");
  }
}

int run(Job& job, const std::string& time) {
  using Part = std::function<void(const Job&)>;
  const Part second = [](const Job& of) { of.second(); };
  // For some the test sees to the hard time.
  const std::map<std::string, Part> times{{"finish", second},
                                          {"kill", killed},
                                          {"abort", aborts},
                                          {"_exit", underscore_exit},
                                          {"exec", exec},
                                          {"close", close_descriptors},
                                          {"chdir", change_folder},
                                          {"privileges", drop_privileges},
                                          {"namespace", other_namespace},
                                          {"hidden", second},
                                          {"file_limit", limit_files},
                                          {"full_disk", flood},
                                          {"memory_limit", limit_memory},
                                          {"little_memory", second},
                                          {"stop", second},
                                          {"recorder_stopped", second},
                                          {"recorder_killed", second},
                                          {"stalled", flood},
                                          {"stalled_for_ever", second},
                                          {"fork", fork_storm},
                                          {"threads", threads}};
  const bool after_exec = time == "after_exec";
  const auto found = times.find(time);
  if (found == times.end() && !after_exec) return 64;
  if (time == "hidden") hide_folder(job);
  job.emitter = make_emitter(job.arguments[1]);
  if (job.emitter == nullptr) return 65;
  if (after_exec) {
    job.second();
  } else {
    job.emitter->emit(0, kFirst);
    std::puts("first part");
    std::fflush(stdout);
    if (time != "hidden") job.await("go");
    found->second(job);
  }
  std::puts("second part");
  std::fflush(stdout);
  return kExitCode;
}

}  // namespace
}  // namespace hard_times

int main(int argc, char** argv) {
  if (argc != 4) return 64;
  hard_times::Job job;
  job.folder = argv[3];
  job.arguments = argv;
  std::ofstream(job.path("pid")) << getpid();
  return hard_times::run(job, argv[2]);
}

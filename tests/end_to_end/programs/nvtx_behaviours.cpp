// A program that behaves as its first argument says, with NVTX ranges on the way: the ways in which jobs end,
// split and misbehave.
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

// Not inlined into one: every range has a name of its own.
void range(const std::string& name) {
  nvtxRangePushA(name.c_str());
  nvtxRangePop();
}

void ranges(const std::string& prefix, int count) {
  for (int i = 0; i < count; ++i) range(prefix + std::to_string(i));
}

void sleep_milliseconds(long milliseconds) {
  timespec time{milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  while (nanosleep(&time, &time) != 0) {
  }
}

// Tells the test how far it has come.
void say(const char* word) {
  std::printf("%s\n", word);
  std::fflush(stdout);
}

int count_argument(char** argv, int index) {
  return argv[index] != nullptr ? std::atoi(argv[index]) : 0;
}

int leave(char** argv) {
  ranges("range ", 3);
  return count_argument(argv, 2);
}

int exit_in_thread(char**) {
  range("before");
  std::thread([] {
    range("in thread");
    std::exit(5);
  }).join();
  return 0;
}

int quick(char** argv) {
  ranges("range ", 3);
  _exit(count_argument(argv, 2));
}

__attribute__((no_sanitize("undefined", "address", "thread"))) int crash(char**) {
  range("before");
  nvtxRangePushA("crashing");
  sleep_milliseconds(700);
  volatile int* nowhere = nullptr;
  *nowhere = 1;
  return 0;
}

int abort_now(char**) {
  range("before");
  std::abort();
}

// Emits numbered ranges for ever; says how many are done at every hundredth.
int run_on(char**) {
  nvtxRangePushA("outermost");
  for (int i = 0;; ++i) {
    range("range " + std::to_string(i));
    if (i % 100 == 99) std::printf("%d\n", i + 1), std::fflush(stdout);
    sleep_milliseconds(1);
  }
}

volatile sig_atomic_t stopped_by = 0;

// Waits for a signal, then exits with its number.
int wait_for_signal(char**) {
  struct sigaction action {};
  action.sa_handler = [](int signal) { stopped_by = signal; };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2})
    sigaction(signal, &action, nullptr);
  range("ready");
  say("ready");
  while (stopped_by == 0) sleep_milliseconds(5);
  return stopped_by;
}

volatile sig_atomic_t interrupts = 0;

// Says "ready", waits for SIGINT, and a while for more of them; exits with their number.
int count_interrupts(char**) {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupts = interrupts + 1; };
  sigaction(SIGINT, &action, nullptr);
  range("ready");
  say("ready");
  while (interrupts == 0) sleep_milliseconds(5);
  sleep_milliseconds(300);
  return interrupts;
}

int fork_children(char** argv) {
  range("parent before");
  nvtxRangePushA("parent around");
  std::vector<pid_t> children;
  children.reserve(static_cast<std::size_t>(count_argument(argv, 2)));
  for (int i = 0; i < count_argument(argv, 2); ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (int k = 0; k < 10; ++k) range("child " + std::to_string(i) + " range " + std::to_string(k));
      std::exit(0);
    }
    children.push_back(child);
  }
  int worst = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) worst = 1;
  }
  nvtxRangePop();
  range("parent after");
  return worst;
}

int exec_chain(char** argv) {
  range("link " + std::to_string(count_argument(argv, 2)));
  // Long enough for the writer's first drains.
  sleep_milliseconds(300);
  const int left = count_argument(argv, 2) - 1;
  if (left < 0) return 9;
  const std::string next = std::to_string(left);
  execl("/proc/self/exe", argv[0], "exec", next.c_str(), nullptr);
  return 1;
}

int threads(char** argv) {
  const int count = count_argument(argv, 2);
  const int each = count_argument(argv, 3);
  std::vector<std::thread> all;
  all.reserve(static_cast<std::size_t>(count));
  for (int t = 0; t < count; ++t) {
    all.emplace_back([t, each] {
      const std::string name = "worker " + std::to_string(t);
      nvtxNameOsThreadA(static_cast<std::uint32_t>(gettid()), name.c_str());
      nvtxRangePushA("outer");
      for (int i = 0; i < each; ++i) range("thread " + std::to_string(t));
      nvtxRangePop();
    });
  }
  for (std::thread& thread : all) thread.join();
  return 0;
}

// Many threads that live for a moment, one after the other: their rings are used again.
int short_threads(char** argv) {
  for (int t = 0; t < count_argument(argv, 2); ++t) {
    std::thread([] { range("short-lived"); }).join();
    if (t % 5 == 0) sleep_milliseconds(1);
  }
  return 0;
}

// What daemons do: closes every descriptor, then uses the numbers for files of its own, which nobody else may
// write to.
// Whether a thread of this process has the name of the one that records.
bool is_recorded() {
  bool found = false;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    found = found || name == "lockstep";
  }
  return found;
}

// With a folder: it is elsewhere until nothing is recorded any more.
int close_descriptors(char** argv) {
  const char* const folder = argv[3];
  const std::string elsewhere = folder != nullptr ? std::string(folder) + " elsewhere" : "";
  range("before");
  sleep_milliseconds(300);
  if (folder != nullptr && std::rename(folder, elsewhere.c_str()) != 0) return 3;
  for (int i = 3; i < 4096; ++i) close(i);
  std::vector<int> own;
  own.reserve(64);
  for (int i = 0; i < 64; ++i) {
    own.push_back(open(argv[2], O_RDWR | O_CREAT, 0600));
    if (own.back() < 0) return 1;
  }
  ranges("after ", 20000);
  for (int turn = 0; turn < (folder != nullptr ? 1000 : 90) && is_recorded(); ++turn) sleep_milliseconds(10);
  if (folder != nullptr && std::rename(elsewhere.c_str(), folder) != 0) return 3;
  // The file must still be empty.
  return lseek(own.front(), 0, SEEK_END) == 0 ? 0 : 2;
}

// Not one descriptor is left at the first event. All must be there afterwards, and what it has locked.
int no_descriptors(char** argv) {
  nvtxInitialize(nullptr);
  const int locked = open(argv[2], O_RDWR | O_CREAT, 0600);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  if (fcntl(locked, F_SETLK, &lock) != 0) return 1;
  const rlimit limit{64, 64};
  setrlimit(RLIMIT_NOFILE, &limit);
  std::vector<int> own;
  for (int file = 0; (file = dup(STDERR_FILENO)) >= 0;) own.push_back(file);
  ranges("range ", 2000);
  sleep_milliseconds(300);
  for (const int file : own)
    if (fcntl(file, F_GETFD) < 0) return 2;
  const pid_t child = fork();
  if (child == 0) _exit(fcntl(locked, F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK ? 5 : 3);
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

// What stands in stdio's buffer leaves it after the program's own functions at exit have run.
int buffer_until_exit(char**) {
  std::atexit([] {
    if (write(STDOUT_FILENO, "handler\n", 8) != 8) _exit(1);
  });
  range("range");
  std::printf("buffered\n");
  return 5;
}

// A signal handler that makes NVTX calls, in a storm of signals. NVTX itself is started before: it can't be
// started twice at once, in whatever tool's company. So is the recording, by a first event: that starts a
// thread, which no signal handler may.
int handlers(char** argv) {
  nvtxMarkA("first");
  struct sigaction action {};
  action.sa_handler = [](int) {
    nvtxRangePushA("in handler");
    nvtxMarkA("in handler");
    nvtxRangePop();
  };
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  std::atomic<bool> done{false};
  const pthread_t target = pthread_self();
  std::thread storm([&] {
    while (!done) pthread_kill(target, SIGUSR1);
  });
  for (int i = 0; i < count_argument(argv, 2); ++i) {
    nvtxRangePushA("outer");
    nvtxRangePushA("inner");
    nvtxRangePop();
    nvtxRangePop();
  }
  done = true;
  storm.join();
  return 0;
}

// More than any buffer holds, as fast as can be.
int flood(char** argv) {
  const int count = count_argument(argv, 2);
  nvtxRangePushA("flood");
  for (int i = 0; i < count; ++i) {
    nvtxRangePushA("outer");
    nvtxRangePushA("inner");
    nvtxRangePop();
    nvtxRangePop();
  }
  nvtxRangePop();
  return 0;
}

// Makes up to 2 MB a second of text that can hardly be compressed, and doesn't care what becomes of it.
int fill(char** argv) {
  unsigned state = 1;
  for (int i = 0; i < count_argument(argv, 2); ++i) {
    std::string name;
    for (int k = 0; k < 200; ++k) {
      state = state * 1664525U + 1013904223U;
      name += static_cast<char>('!' + (state >> 24U) % 90);
    }
    range(name);
    if (i % 10 == 9) sleep_milliseconds(1);
  }
  return 3;
}

// A change of user after the first events, as servers do.
int change_user(char**) {
  range("as root");
  sleep_milliseconds(50);
  if (setgid(65534) != 0 || setuid(65534) != 0) return 1;
  range("as nobody");
  return 0;
}

struct AtExit {
  ~AtExit() { range("in destructor"); }
};

int late_events(char**) {
  static AtExit at_exit;
  std::atexit([] { range("in atexit"); });
  range("in main");
  return 4;
}

// Threads that still emit while and after the process exits.
int emit_beyond_the_end(char**) {
  for (int t = 0; t < 4; ++t) {
    std::thread([] {
      while (true) {
        nvtxRangePushA("for ever");
        nvtxRangePop();
      }
    }).detach();
  }
  sleep_milliseconds(50);
  return 6;
}

int silent(char**) {
  return 0;
}

int register_only(char**) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("never used");
  nvtxDomainRegisterStringA(domain, "never used");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<int(char**)>> behaviours{
      {"leave", leave},
      {"exit_in_thread", exit_in_thread},
      {"quick", quick},
      {"crash", crash},
      {"abort", abort_now},
      {"run_on", run_on},
      {"wait_for_signal", wait_for_signal},
      {"count_interrupts", count_interrupts},
      {"fork", fork_children},
      {"exec", exec_chain},
      {"threads", threads},
      {"short_threads", short_threads},
      {"close_descriptors", close_descriptors},
      {"no_descriptors", no_descriptors},
      {"buffer_until_exit", buffer_until_exit},
      {"handlers", handlers},
      {"flood", flood},
      {"fill", fill},
      {"change_user", change_user},
      {"late_events", late_events},
      {"emit_beyond_the_end", emit_beyond_the_end},
      {"silent", silent},
      {"register_only", register_only},
  };
  const auto found = argc < 2 ? behaviours.end() : behaviours.find(argv[1]);
  if (found == behaviours.end()) return 64;
  prctl(PR_SET_DUMPABLE, 0);  // those that crash leave no core files
  return found->second(argv);
}

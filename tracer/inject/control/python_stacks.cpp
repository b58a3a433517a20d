#include "tracer/inject/control/python_stacks.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>

namespace lockstep::tracer::control {

namespace {

using Handler = void (*)(int);

// What Python offered. Never destroyed.
struct Offer {
  pid_t process = 0;
  int signal = 0;
  int descriptor = -1;
  Handler handler = nullptr;
  struct stat file {};
};
constinit Offer offered;
constinit std::atomic<pid_t> offer_holder{0};  // the process one of whose threads uses it

// Holds the offer for the time of a scope, if it can be had within a second. One that was held when the
// process was forked is free in the child.
class HeldOffer {
 public:
  HeldOffer() noexcept {
    const pid_t self = getpid();
    for (int i = 0; i < 100 && !held_; ++i) {
      pid_t holder = offer_holder.load();
      if (holder == self) {
        usleep(10'000);
      } else {
        held_ = offer_holder.compare_exchange_strong(holder, self);
      }
    }
  }
  ~HeldOffer() {
    if (held_) offer_holder.store(0);
  }
  HeldOffer(const HeldOffer&) = delete;
  HeldOffer& operator=(const HeldOffer&) = delete;
  explicit operator bool() const noexcept { return held_; }

 private:
  bool held_ = false;
};

Handler handler_of(int signal) noexcept {
  struct sigaction action {};
  if (sigaction(signal, nullptr, &action) != 0 || (action.sa_flags & SA_SIGINFO) != 0) return nullptr;
  return action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN ? nullptr : action.sa_handler;
}

bool is_python_running() noexcept {
  using IsInitialized = int (*)();
  const auto initialized = reinterpret_cast<IsInitialized>(dlsym(RTLD_DEFAULT, "Py_IsInitialized"));
  return initialized != nullptr && initialized() != 0;
}

// Not a forked child, whose file is its parent's too. The job may have closed all descriptors and opened
// files of its own under their numbers.
bool is_still(const Offer& offer) noexcept {
  struct stat now {};
  return offer.process == getpid() && fstat(offer.descriptor, &now) == 0 && now.st_dev == offer.file.st_dev &&
         now.st_ino == offer.file.st_ino && handler_of(offer.signal) == offer.handler;
}

// Not blocking: a named pipe may have the name.
int create(const std::string& path) noexcept {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
}

bool copy(int from, const std::string& path) noexcept {
  std::array<char, 4096> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by pread
  off_t position = 0;
  int to = -1;
  while (true) {
    const ssize_t count = pread(from, buffer.data(), buffer.size(), position);
    if (count <= 0) break;
    if (to < 0 && (to = create(path)) < 0) return false;
    if (write(to, buffer.data(), static_cast<std::size_t>(count)) != count) break;
    position += count;
  }
  if (to >= 0) close(to);
  return position > 0;
}

bool write_offered(const std::string& path) noexcept {
  const HeldOffer held;
  const Offer& offer = offered;
  if (!held || offer.handler == nullptr || !is_python_running() || !is_still(offer)) return false;
  if (ftruncate(offer.descriptor, 0) != 0 || lseek(offer.descriptor, 0, SEEK_SET) != 0) return false;
  offer.handler(offer.signal);
  return copy(offer.descriptor, path);
}

bool write_found(const std::string& path) noexcept {
  // Exported by CPython up to 3.12 for faulthandler's sake: null pointers stand for "the main interpreter"
  // and "no thread is the current one". Made to be called from anywhere: it allocates nothing, takes no lock
  // and stops after 100 threads of 100 frames.
  using DumpThreads = const char* (*)(int descriptor, void* interpreter, void* current_thread);
  using MainInterpreter = void* (*)();
  const auto dump = reinterpret_cast<DumpThreads>(dlsym(RTLD_DEFAULT, "_Py_DumpTracebackThreads"));
  const auto main = reinterpret_cast<MainInterpreter>(dlsym(RTLD_DEFAULT, "PyInterpreterState_Main"));
  if (dump == nullptr || main == nullptr || !is_python_running()) return false;
  void* const interpreter = main();
  if (interpreter == nullptr) return false;
  const int file = create(path);
  if (file < 0) return false;
  const char* const problem = dump(file, interpreter, nullptr);
  close(file);
  if (problem == nullptr) return true;
  unlink(path.c_str());
  return false;
}

}  // namespace

int find_unused_signal() noexcept {
  for (int signal = SIGRTMAX - 1; signal > SIGRTMIN; --signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
        action.sa_handler == SIG_DFL)
      return signal;
  }
  return 0;
}

void offer_python_stacks(int signal, int descriptor) noexcept {
  const HeldOffer held;
  if (!held) return;
  offered = {};
  if (signal == 0 || fstat(descriptor, &offered.file) != 0) return;
  offered.process = getpid();
  offered.signal = signal;
  offered.descriptor = descriptor;
  offered.handler = handler_of(signal);
}

bool write_python_stacks(const std::string& path) noexcept {
  return write_offered(path) || write_found(path);
}

}  // namespace lockstep::tracer::control

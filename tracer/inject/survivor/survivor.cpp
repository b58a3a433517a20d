#include "tracer/inject/survivor/survivor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>

#include "tracer/inject/ring/wake.h"
#include "tracer/inject/survivor/survivor_heap.h"

namespace lockstep::tracer {

// A sanitizer takes the survivor for a thread that it does not know.
#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)

namespace {

constexpr std::uint32_t kReadyMilliseconds = 1000;  // on a machine that has no time for it
constexpr int kEndMilliseconds = 100;
constexpr long kOthersMilliseconds = 100;
constexpr long kLookSeconds = 1;
constexpr int kLooksWhenAsked = 2;
constexpr long kWorkSeconds = 3;
constexpr std::size_t kPage = 4096;

// A system call that leaves errno alone: it is the writer thread's, which may be in use. A result below 0 is
// an error's number.
long raw(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0) noexcept {
#ifdef __x86_64__
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  long result = 0;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
               : "rcx", "r11", "memory");
  return result;
#else
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
  return x0;
#endif
}

long address(const void* pointer) noexcept {
  return reinterpret_cast<long>(pointer);
}

// The kernel's own form: one word of signals.
struct KernelAction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
};
constexpr unsigned long bit(int signal) {
  return 1UL << static_cast<unsigned>(signal - 1);
}

bool close_all_but(int descriptor) noexcept {
  if (descriptor > 0 && raw(SYS_close_range, 0, descriptor - 1) != 0) return false;
  return raw(SYS_close_range, descriptor + 1, UINT_MAX) == 0;
}

// A lock on the file as long as this process lives, for the recorder (recorder/survivors.h): of an opening of
// its own, since what the job opened is inherited by the processes that it forks.
void lock_file(int descriptor) noexcept {
  char path[] = "/proc/self/fd/0000000000";
  char* const digits = path + sizeof("/proc/self/fd/") - 1;
  int count = 1;
  for (int rest = descriptor; rest >= 10; rest /= 10) ++count;
  digits[count] = '\0';
  for (int rest = descriptor; count > 0; rest /= 10) digits[--count] = static_cast<char>('0' + rest % 10);
  const long file = raw(SYS_openat, AT_FDCWD, address(path), O_RDONLY | O_CLOEXEC);
  if (file >= 0) raw(SYS_flock, file, LOCK_SH | LOCK_NB);
}

// What the process can do, code in its memory could do here, also when the process has given it up.
void give_up_capabilities() noexcept {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3]{};
  raw(SYS_capset, address(&header), address(none));
}

bool was_asked_to_end() noexcept {
  unsigned long pending = 0;
  raw(SYS_rt_sigpending, address(&pending), sizeof pending);
  return (pending & (bit(SIGTERM) | bit(SIGINT) | bit(SIGHUP) | bit(SIGQUIT))) != 0;
}

// From here on code of all kinds runs. Whatever goes wrong with it ends this process, silently and soon: what
// the job's handlers would do has no sense here, and a lock may be held by a thread that is gone.
void prepare_for_the_worst() noexcept {
  const KernelAction by_default{};
  for (int number = 1; number < 65; ++number)
    raw(SYS_rt_sigaction, number, address(&by_default), 0, sizeof(unsigned long));
  const rlimit no_core{};
  raw(SYS_setrlimit, RLIMIT_CORE, address(&no_core));
  const unsigned long alarm = bit(SIGALRM);
  raw(SYS_rt_sigprocmask, SIG_UNBLOCK, address(&alarm), 0, sizeof alarm);
  const itimerval soon{{0, 0}, {kWorkSeconds, 0}};
  raw(SYS_setitimer, ITIMER_REAL, address(&soon));
}

}  // namespace

int Survivor::main(void* survivor) {
  static_cast<Survivor*>(survivor)->sleep_and_work();
  raw(SYS_exit_group, 0);
  return 0;
}

// Until the writer thread is gone, nothing here may touch thread-local storage.
void Survivor::sleep_and_work() noexcept {
  raw(SYS_setsid);
  raw(SYS_chdir, address("/"));  // a folder that is in use can't be unmounted
  raw(SYS_prctl, PR_SET_NAME, address("lockstep"));
  const bool alone = close_all_but(descriptor_);
  lock_file(descriptor_);
  pollfd owner{static_cast<int>(raw(SYS_pidfd_open, owner_, 0)), POLLIN, 0};
  const bool fit = alone && owner.fd >= 0;
  give_up_capabilities();
  ready_.store(fit ? 1 : 2, std::memory_order_release);
  raw(SYS_futex, address(&ready_), FUTEX_WAKE_PRIVATE, INT_MAX);
  if (!fit) return;
  const auto owner_is_dead = [&](long milliseconds) {
    const timespec most{0, milliseconds * 1'000'000};
    return raw(SYS_ppoll, address(&owner), 1, address(&most), 0, sizeof(unsigned long)) > 0;
  };
  // The system wakes by this word when the thread is gone, but not in every version where a core is written.
  const timespec look{kLookSeconds, 0};
  int looks_left = INT_MAX;
  while (writer_->load(std::memory_order_acquire) == writer_id_ &&
         finished_.load(std::memory_order_acquire) == 0 && !owner_is_dead(0)) {
    // Whoever ends all processes that it finds may come to this one first.
    if (looks_left == INT_MAX && was_asked_to_end()) looks_left = kLooksWhenAsked;
    if (looks_left != INT_MAX && looks_left-- == 0) return;
    raw(SYS_futex, address(writer_), FUTEX_WAIT, writer_id_, address(&look));
  }
  if (finished_.load(std::memory_order_acquire) != 0 || in_hand() == InHand::work) return;
  // The other threads die at about the same time. After an exec the process lives on, in memory of its own.
  owner_is_dead(kOthersMilliseconds);
  prepare_for_the_worst();
  survivor_heap_in_use.store(true, std::memory_order_relaxed);
  work_(argument_);
}

bool Survivor::start(int descriptor, void (*work)(void*), void* argument) noexcept {
  if (stack_ != nullptr || descriptor < 0) return false;
  const int saved = errno;
  int* writer = nullptr;
  void* memory = MAP_FAILED;
  if (prctl(PR_GET_TID_ADDRESS, &writer) == 0 && writer != nullptr)
    memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) {
    errno = saved;
    return false;
  }
  madvise(memory, kStackBytes, MADV_DONTFORK);
  mprotect(memory, kPage, PROT_NONE);  // what runs over its end must not run into the job's memory
  stack_ = static_cast<std::byte*>(memory);
  descriptor_ = descriptor;
  work_ = work;
  argument_ = argument;
  owner_ = getpid();
  rights_ = rights();
  writer_ = reinterpret_cast<std::atomic<std::uint32_t>*>(writer);
  writer_id_ = static_cast<std::uint32_t>(syscall(SYS_gettid));
  in_hand_.store(InHand::work, std::memory_order_relaxed);
  finished_.store(0, std::memory_order_relaxed);
  alive_.store(0, std::memory_order_relaxed);
  ready_.store(0, std::memory_order_release);
  // No signal at its end: so wait() does not see it, and waits for no such child.
  process_ = clone(main, stack_ + kStackBytes,
                   CLONE_VM | CLONE_UNTRACED | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID, this, &alive_,
                   nullptr, &alive_);
  if (process_ < 0) {
    munmap(stack_, kStackBytes);
    stack_ = nullptr;
  } else if (!wait_until(ready_, 1, kReadyMilliseconds)) {
    end();
  }
  errno = saved;
  return stack_ != nullptr;
}

void Survivor::end() noexcept {
  finished_.store(1, std::memory_order_release);
  raw(SYS_futex, address(writer_), FUTEX_WAKE, INT_MAX);
  for (int turn = 0; turn < kEndMilliseconds && alive_.load(std::memory_order_acquire) != 0; ++turn) {
    const timespec millisecond{0, 1'000'000};
    raw(SYS_futex, address(&alive_), FUTEX_WAIT, alive_.load(std::memory_order_acquire),
        address(&millisecond));
  }
  // Stopped, or on a machine that has no time for it: our child as long as nobody has waited for it.
  if (alive_.load(std::memory_order_acquire) != 0) kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, __WCLONE) < 0 && errno == EINTR) {
  }
  if (alive_.load(std::memory_order_acquire) == 0) munmap(stack_, kStackBytes);
  stack_ = nullptr;
}

Survivor::Rights Survivor::rights() noexcept {
  return {raw(SYS_geteuid), raw(SYS_getegid), raw(SYS_prctl, PR_GET_SECCOMP),
          raw(SYS_prctl, PR_GET_NO_NEW_PRIVS)};
}

const char* Survivor::look() noexcept {
  if (stack_ == nullptr) return nullptr;
  const int saved = errno;
  const char* why = nullptr;
  const pid_t ended = waitpid(process_, nullptr, WNOHANG | __WCLONE);
  // The program may have waited for it by its number: the system has cleared the word then.
  const bool taken = ended < 0 && errno == ECHILD && alive_.load(std::memory_order_acquire) == 0;
  if (ended == process_ || taken) {
    munmap(stack_, kStackBytes);
    stack_ = nullptr;
    why = "it was killed or asked to end";
  } else if (rights() != rights_) {
    end();
    why = "the process gave up rights (another user, a sandbox)";
  }
  errno = saved;
  return why;
}

Survivor::~Survivor() {
  // In a forked child it is the parent's.
  if (stack_ == nullptr || owner_ != getpid()) return;
  const int saved = errno;
  end();
  errno = saved;
}

#else

const char* Survivor::look() noexcept {
  return nullptr;
}
bool Survivor::start(int, void (*)(void*), void*) noexcept {
  return false;
}
Survivor::~Survivor() = default;

#endif

}  // namespace lockstep::tracer

#include "tracer/inject/core/tracer.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "tracer/inject/core/entry_check.h"
#include "tracer/inject/core/source.h"
#include "tracer/inject/ring/wake.h"
#include "tracer/protocol/notices.h"
#include "tracer/protocol/plan.h"

namespace lockstep::tracer {

thread_local ThreadState thread_state __attribute__((tls_model("initial-exec")));
constinit Tracer the_tracer;

namespace {

// The thread that took the locks in the prepare handler of fork; its child has the same address.
std::atomic<const ThreadState*> fork_locker{nullptr};

// How long the job's own thread may wait to say that it is not recorded.
constexpr int kBrieflyMilliseconds = 5;

// Whether it had got hold of the writer before. Protected by the locks of Parts::lock_before_fork.
bool fork_stopped_writer = false;

// True if this thread took the lock before its fork, which it has then given up.
bool was_fork_locker() noexcept {
  if (fork_locker.load(std::memory_order_relaxed) != &thread_state) return false;
  fork_locker.store(nullptr, std::memory_order_relaxed);
  return true;
}

std::uint64_t buffer_budget() {
  const char* text = std::getenv("LOCKSTEP_BUFFER_SIZE");
  if (text == nullptr) return RingPool::kDefaultBudget;
  return control::parse_size(text, 1).value_or(RingPool::kDefaultBudget);
}

// No signal handler of the program runs on this thread while one of these lives.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    blocked_ = pthread_sigmask(SIG_SETMASK, &all, &before_) == 0;
  }
  ~SignalsBlocked() {
    if (blocked_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
  bool blocked_ = false;
};

// Precondition: signals are blocked. The new thread inherits that: the program's signals are for the
// program's threads, and SIGXFSZ becomes an error of write().
bool start_thread(Tracer& tracer, void* (*body)(void*)) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread{};
  const bool started = pthread_create(&thread, &attributes, body, &tracer) == 0;
  pthread_attr_destroy(&attributes);
  return started;
}

__attribute__((destructor)) void at_exit() {
  Tracer::instance().shut_down();
}

}  // namespace

bool Tracer::is_left_alone() noexcept {
  const char* const why = why_left_alone();
  if (why == nullptr) return false;
  State expected = State::unprepared;
  if (state_.compare_exchange_strong(expected, State::off)) notices::send(why, -1, kBrieflyMilliseconds);
  return true;
}

bool Tracer::prepare(const Parts& parts) noexcept {
  if (state_.load(std::memory_order_acquire) != State::unprepared) {
    return state_.load(std::memory_order_acquire) != State::off;
  }
  const int saved = errno;
  if (is_left_alone()) return false;
  // A handler that makes an NVTX call while NVTX starts would wait for itself: not longer than need be.
  const SignalsBlocked blocked;
  // Not for ever: a forked child may inherit it taken.
  if (!prepare_lock_.acquire(kForkWaitMilliseconds)) return false;
  if (state_.load(std::memory_order_acquire) != State::unprepared) {
    prepare_lock_.release();
    errno = saved;
    return state_.load(std::memory_order_acquire) != State::off;
  }
  bool ready = false;
  try {
    const char* folder = std::getenv("LOCKSTEP_RUN");
    if (folder != nullptr && folder[0] != '\0') {
      parts_ = &parts;
      parts.prepare();
      ticks_ = detect_tick_source();
      pool_.set_budget(buffer_budget());
      pool_.prepare_spare(&wake_);
      ready = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
    }
  } catch (...) {
    ready = false;
  }
  State expected = State::unprepared;
  state_.compare_exchange_strong(expected, ready ? State::idle : State::off);
  prepare_lock_.release();
  errno = saved;
  return ready;
}

SourceId Tracer::add_source(Source& source) noexcept {
  for (SourceId id = 0; id < kMaxSources; ++id) {
    Source* known = nullptr;
    if (sources_[id].compare_exchange_strong(known, &source) || known == &source) return id;
  }
  return kNoSource;
}

bool Tracer::ensure_started() noexcept {
  const int saved = errno;
  if (state_.load(std::memory_order_acquire) == State::idle) start();
  errno = saved;
  return state_.load(std::memory_order_acquire) == State::running;
}

Ring* Tracer::first_event_of_thread() noexcept {
  const State state = state_.load(std::memory_order_acquire);
  if (state == State::off || state == State::unprepared) return nullptr;
  const int saved = errno;
  if (state == State::idle) start();
  thread_state.ring = pool_.acquire(static_cast<std::uint32_t>(syscall(SYS_gettid)), &wake_);
  errno = saved;
  return thread_state.ring;
}

void Tracer::start() noexcept {
  State expected = State::idle;
  if (!state_.compare_exchange_strong(expected, State::running)) return;
  const SignalsBlocked blocked;
  try {
    start_or_throw();
  } catch (...) {
    turn_off();
    notices::send("out of memory", -1, kBrieflyMilliseconds);
  }
}

void Tracer::start_or_throw() {
  // Now, not when the library was loaded: a launcher in the same process (torch.multiprocessing, say) sets a
  // rank's variables after the fork.
  auto* process = new ProcessInfo;
  process->job = identify_job();
  if (process->job.rank < 0 && suggested_rank_.load(std::memory_order_relaxed) >= 0) {
    process->job.rank = suggested_rank_.load(std::memory_order_relaxed);
    process->job.world_size = suggested_world_size_.load(std::memory_order_relaxed);
    process->job.launcher = "torch.distributed";
  }
  process->is_helper = forked_while_recording_.load(std::memory_order_relaxed) &&
                       process->job.rank == parent_rank_.load(std::memory_order_relaxed);
  process->run_folder = std::getenv("LOCKSTEP_RUN") != nullptr ? std::getenv("LOCKSTEP_RUN") : "";
  process->host = host_name();
  process->process = getpid();
  process->ticks = ticks_;
  process->first_reading = read_clocks(ticks_);
  delete std::exchange(process_, process);  // a forked child has its parent's
  owner_.store(process->process, std::memory_order_release);
  stopped_.store(0, std::memory_order_relaxed);
  stop_.store(0, std::memory_order_relaxed);
  if (process->run_folder.empty()) return turn_off();
  notices::send_beginning(process->process, process->job.rank);
  work_lock_.acquire();  // for the new thread, which allocates memory before it comes to our code
  if (!start_thread(*this, parts_->run_writer)) {
    work_lock_.release();
    turn_off();
    notices::send("no thread could be started for recording", process->job.rank, kBrieflyMilliseconds);
  }
}

void Tracer::count_reentrant() noexcept {
  if (thread_state.ring != nullptr) {
    thread_state.ring->count_reentrant_drop();
  } else {
    reentrant_without_ring_.fetch_add(1, std::memory_order_relaxed);
  }
}

void Tracer::confirm_stopped() noexcept {
  set_and_wake_all(stopped_, 1);
}

void Tracer::shut_down() noexcept {
  if (state_.load(std::memory_order_acquire) != State::running || owner_.load() != getpid()) return;
  const int saved = errno;
  for (const std::atomic<Source*>& source : sources_) {
    if (Source* const known = source.load(std::memory_order_acquire); known != nullptr) known->before_exit();
  }
  stop_.store(1, std::memory_order_release);
  wake(wake_);
  wait_until(stopped_, 1, kExitWaitMilliseconds);
  turn_off();
  errno = saved;
}

void Tracer::before_fork() noexcept {
  // A fork in a signal handler that interrupted us: the lock may be this thread's own.
  if (thread_state.busy.load(std::memory_order_relaxed) != 0) return;
  // The writer first, which takes those locks while it works (it looks names up): the other way round the two
  // would wait for each other. Not for ever: it may be waiting for a disk.
  const bool stopped = instance().work_lock_.acquire(kForkWaitMilliseconds);
  instance().parts_->lock_before_fork();
  fork_stopped_writer = stopped;
  fork_locker.store(&thread_state, std::memory_order_relaxed);
}

void Tracer::after_fork_in_parent() noexcept {
  if (fork_locker.load(std::memory_order_relaxed) != &thread_state) return;
  if (std::exchange(fork_stopped_writer, false)) instance().work_lock_.release();
  was_fork_locker();
  instance().parts_->unlock_after_fork();
}

void Tracer::after_fork_in_child() noexcept {
  Tracer& tracer = instance();
  thread_state.ring = nullptr;
  if (!was_fork_locker()) {
    // Something may be half changed: nothing is recorded in this child.
    tracer.turn_off();
    return;
  }
  tracer.parts_->reset_after_fork();
  tracer.work_lock_.reset();
  fork_stopped_writer = false;
  for (const std::atomic<Source*>& source : tracer.sources_) {
    Source* const known = source.load(std::memory_order_relaxed);
    if (known != nullptr) known->after_fork_in_child();
  }
  tracer.pool_.reset_after_fork();
  tracer.wake_.store(0, std::memory_order_relaxed);
  tracer.reentrant_without_ring_.store(0, std::memory_order_relaxed);
  tracer.refused_.store(0, std::memory_order_relaxed);
  // The writer thread stayed with the parent, and the parent's file with it: a child that emits gets its own
  // of each.
  if (tracer.state_.load(std::memory_order_relaxed) != State::running) return;
  // process_ may not be there yet if another thread is in the middle of its first event.
  const bool known = tracer.owner_.load(std::memory_order_acquire) != 0;
  tracer.forked_while_recording_.store(known, std::memory_order_relaxed);
  if (known) tracer.parent_rank_.store(tracer.process_->job.rank, std::memory_order_relaxed);
  tracer.state_.store(State::idle, std::memory_order_relaxed);
}

}  // namespace lockstep::tracer

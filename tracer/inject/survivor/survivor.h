// What a process had recorded and not written when it is killed (`record --survive-kill`).
//
// A second process, made by the writer thread, in the same memory and with nothing of its own but a stack and
// one descriptor. It sleeps until the writer thread is gone: by SIGKILL, a crash, _exit or exec. If that
// thread had work in hand, nobody can tell in what state, but of the work that says it can be resumed; else
// the survivor does what the thread would have done next, as if it were that thread: its thread-local storage
// is still there, and nobody else uses it.
//
// It takes no part in the job: in a session of its own, all signals blocked but the one that asks to end,
// none of the job's descriptors, no capabilities, and no child that the job's wait() would see. What it
// costs: tools that add up the memory of processes count the job's twice.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace lockstep::tracer {

class Survivor {
 public:
  // What the writer thread has in hand.
  enum class InHand : std::uint32_t { nothing, work, resumable_work };

  Survivor() = default;
  // On the writer thread. Ends the survivor, which has nothing left to do.
  ~Survivor();
  Survivor(const Survivor&) = delete;
  Survivor& operator=(const Survivor&) = delete;

  // On the writer thread, which has all signals blocked. `work(argument)` is called in the survivor. False:
  // it can't be had here (another architecture, a sanitizer, Linux before 5.9, a limit on processes).
  bool start(int descriptor, void (*work)(void*), void* argument) noexcept;

  // On the writer thread: what it has in hand from now on.
  void set(InHand in_hand) noexcept { in_hand_.store(in_hand, std::memory_order_release); }
  // In the survivor: what the thread had in hand that is gone.
  InHand in_hand() const noexcept { return in_hand_.load(std::memory_order_acquire); }
  // On the writer thread, now and then. Ends the survivor where the process has given up rights since
  // (another user, a sandbox), which code in the same memory must not keep; takes leave of one that somebody
  // else has ended. Once it is gone: why, in words, the first time; else nullptr.
  const char* look() noexcept;
  // Its process id; 0 where there is none.
  pid_t process() const noexcept { return stack_ != nullptr ? process_ : 0; }

 private:
  static constexpr std::size_t kStackBytes = std::size_t{1} << 20U;
  static int main(void* survivor);
  void sleep_and_work() noexcept;
  void end() noexcept;

  // What the process may do.
  struct Rights {
    long user = 0, group = 0, seccomp = 0, no_new_privileges = 0;
    bool operator==(const Rights&) const = default;
  };
  static Rights rights() noexcept;

  int descriptor_ = -1;
  void (*work_)(void*) = nullptr;
  void* argument_ = nullptr;
  std::byte* stack_ = nullptr;
  pid_t process_ = 0;  // the survivor
  Rights rights_;      // of the process when it was made
  pid_t owner_ = 0;    // the process that may be killed
  std::atomic<std::uint32_t>* writer_ =
      nullptr;  // the writer thread's id; the system clears it when that is gone
  std::uint32_t writer_id_ = 0;
  std::atomic<std::uint32_t> alive_{0};  // the survivor's id; the system clears it when that is gone
  std::atomic<std::uint32_t> ready_{0};  // 1: it sleeps; 2: it could not
  std::atomic<InHand> in_hand_{InHand::work};
  std::atomic<std::uint32_t> finished_{0};
};

}  // namespace lockstep::tracer

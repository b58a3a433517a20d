// What a process had recorded and not written when it is killed (`record --survive-kill`).
//
// A second process, made by the writer thread, in the same memory and with nothing of its own but a stack and
// one descriptor. It sleeps until the writer thread is gone: by SIGKILL, a crash, _exit or exec. If that
// thread had work in hand, nobody can tell in what state; else the survivor does what the thread would have
// done next, as if it were that thread: its thread-local storage is still there, and nobody else uses it.
//
// It takes no part in the job: no child of its, in a session of its own, all signals blocked, none of the
// job's descriptors. What it costs: tools that add up the memory of processes count the job's twice.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace lockstep::tracer {

class Survivor {
 public:
  Survivor() = default;
  // On the writer thread. Ends the survivor, which has nothing left to do.
  ~Survivor();
  Survivor(const Survivor&) = delete;
  Survivor& operator=(const Survivor&) = delete;

  // On the writer thread, which has all signals blocked. `work(argument)` is called in the survivor. False:
  // it can't be had here (another architecture, a sanitizer, Linux before 5.9, a limit on processes).
  bool start(int descriptor, void (*work)(void*), void* argument) noexcept;

  // The writer thread has work in hand from now on, or none.
  void set_busy(bool busy) noexcept { busy_.store(busy ? 1 : 0, std::memory_order_release); }

 private:
  static constexpr std::size_t kStackBytes = std::size_t{1} << 20U;
  static int make_orphan(void* survivor);
  static int main(void* survivor);
  void sleep_and_work() noexcept;
  // Whether it is gone in time, and its stack with it.
  bool await_end() noexcept;

  int descriptor_ = -1;
  void (*work_)(void*) = nullptr;
  void* argument_ = nullptr;
  std::byte* stack_ = nullptr;
  pid_t owner_ = 0;  // the process that may be killed
  std::atomic<std::uint32_t>* writer_ =
      nullptr;  // the writer thread's id; the system clears it when that is gone
  std::uint32_t writer_id_ = 0;
  std::atomic<std::uint32_t> alive_{0};  // the survivor's id; the system clears it when that is gone
  std::atomic<std::uint32_t> ready_{0};  // 1: it sleeps; 2: it could not
  std::atomic<std::uint32_t> busy_{1};
  std::atomic<std::uint32_t> finished_{0};
};

}  // namespace lockstep::tracer

// For tests that hold measured times against a model's. What a machine adds to modelled times (waking a
// sleeper, a hop over loopback, other programs) is so and so many microseconds each time, whatever they last:
// it shrinks beside longer ones, a flaw in a schedule doesn't. So such tests measure at a slower pace until
// what the machine adds is small, and only then judge.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace lockstep::end_to_end {

// One such test at a time on this machine, at real-time priority where that is allowed: for as long as the
// object lives, with all programs that the test starts.
class Undisturbed {
 public:
  Undisturbed();
  ~Undisturbed();
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

  // is_near(pace) measures with all modelled times multiplied by the pace, and says whether they are the
  // model's. Paces are 1, 2 and 4, until one is near; returns whether one was.
  static bool at_some_pace(const std::function<bool(int pace)>& is_near);

  // Why what was measured may be the machine's doing rather than the job's, with figures. Empty: it isn't.
  std::string disturbance() const;

 private:
  void watch();

  int lock_ = -1;
  bool real_time_ = false;
  std::atomic<bool> over_ = false;
  std::atomic<std::int64_t> wakes_ = 0, late_ns_ = 0, latest_ns_ = 0;
  std::thread watcher_;
};

}  // namespace lockstep::end_to_end

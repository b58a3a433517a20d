// What each source records, in its smallest form: events that carry a number, so that a test can say which of
// them are in the file. A source that nobody records emits into nothing, as it does in jobs.
#pragma once

#include <memory>
#include <string>

namespace hard_times {

class Emitter {
 public:
  virtual ~Emitter() = default;
  // Events with the numbers from `first` on, on the calling thread.
  virtual void emit(int first, int count) = 0;
  // What such a library does in a forked child before it can go on there.
  virtual void after_fork_in_child() {}
};

// "nvtx", "pytorch", "cupti", "nccl" or "cpu"; nullptr for others.
std::unique_ptr<Emitter> make_emitter(const std::string& source);

}  // namespace hard_times

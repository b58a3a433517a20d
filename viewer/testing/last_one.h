// For tests that have to know when threads that nobody joins are done.
#pragma once

#include <future>
#include <utility>

namespace lockstep::viewer {

// Shared by what such threads hold: its end, after the last of them, is told.
class LastOne {
 public:
  explicit LastOne(std::promise<void> gone) : gone_(std::move(gone)) {}
  ~LastOne() { gone_.set_value(); }
  LastOne(const LastOne&) = delete;
  LastOne& operator=(const LastOne&) = delete;

 private:
  std::promise<void> gone_;
};

}  // namespace lockstep::viewer

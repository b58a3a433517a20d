// A recorded job that runs while the test does something about it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/end_to_end/support.h"

namespace lockstep::end_to_end {

class BackgroundRun {
 public:
  // Runs argv[0] with its output going to files of `folder`.
  BackgroundRun(const TemporaryFolder& folder, const std::vector<std::string>& argv,
                const std::vector<std::string>& environment);
  ~BackgroundRun();  // kills what still runs
  BackgroundRun(const BackgroundRun&) = delete;
  BackgroundRun& operator=(const BackgroundRun&) = delete;

  // Waits for the end.
  Outcome finish();
  std::string output() const;
  std::string error_output() const;
  pid_t process() const { return process_; }

 private:
  std::string folder_;
  pid_t process_ = -1;
};

// Waits until `condition` holds, for a minute at most. False if it never did.
template <class Condition>
bool eventually(Condition condition);

void sleep_briefly();

template <class Condition>
bool eventually(Condition condition) {
  for (int i = 0; i < 3000; ++i) {
    if (condition()) return true;
    sleep_briefly();
  }
  return false;
}

}  // namespace lockstep::end_to_end

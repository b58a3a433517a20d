// The job hard_times, recorded from one source: what it is run with, and what of its events is in a file.
#pragma once

#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "tests/end_to_end/background_run.h"
#include "tests/end_to_end/recorded_run.h"
#include "trace/reader.h"

namespace lockstep::end_to_end {

struct HardSource {
  const char* name;
  bool numbered;        // each event has a number; else there is only a sum, and other things add to it
  bool child_can_emit;  // after a fork
  bool one_loss_each;   // an event that is lost counts once; else once for each thing that is told of it
};
inline void PrintTo(const HardSource& source, std::ostream* out) {
  *out << source.name;  // for GoogleTest
}
inline constexpr HardSource kHardSources[] = {{"nvtx", true, true, true},
                                              {"pytorch", true, true, true},
                                              {"cupti", true, false, true},
                                              {"nccl", true, true, false},
                                              {"cpu", false, true, true}};

// What of the job's events a file holds.
struct Seen {
  std::multiset<int> numbers;
  double sum = 0;          // of a source without numbers
  std::uint64_t lost = 0;  // by the file's own account
  bool complete = false;

  // Each number of [first, first + count) once, or, without numbers, at least as much as so many make.
  bool has(const HardSource& source, int first, int count) const;
  // No number twice, and none that is not in [first, first + count).
  bool is_within(int first, int count) const;
};
Seen see(const HardSource& source, const trace::Reader& reader);

// The job in a folder of its own. What it waits for is there already where nobody records it.
class HardRun {
 public:
  HardRun(const HardSource& source, const std::string& time);

  Outcome run_alone();
  // Starts it under `lockstep record`, which is started in its folder and gets a relative path.
  void start();
  // Until the file holds the first part. False if it never did.
  bool await_first();
  // Until the file itself says that it takes nothing more. False if it never did.
  bool await_unwritten();
  void leave(const std::string& file) const;
  bool is_there(const std::string& file) const;
  Outcome finish() { return background_->finish(); }

  // The recorder, and the job in it.
  pid_t recorder() const { return background_->process(); }
  pid_t job() const;
  std::string folder() const { return record_.folder.path().string(); }
  const RecordedRun& record() const { return record_; }
  // Environment of both, beyond ours.
  std::vector<std::string> environment() const;
  std::vector<std::string> command(const std::string& folder) const;

 private:
  const HardSource& source_;
  std::string time_;
  RecordedRun record_;
  std::unique_ptr<BackgroundRun> background_;
};

}  // namespace lockstep::end_to_end

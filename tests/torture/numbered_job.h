// Two recorded ranks that emit numbered marks until the test ends them, and what is left of each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/end_to_end/background_run.h"
#include "tests/torture/progress.h"

namespace lockstep::torture {

// What of a rank's marks a file holds, beside how many calls had returned.
struct Remains {
  std::int64_t kept = 0;
  std::int64_t lost = 0;     // of the calls that had returned
  std::int64_t lost_ns = 0;  // from the last one kept to the last one that returned
  bool complete = false;
  bool after_death = false;  // a survivor wrote what was left
};

class NumberedJob {
 public:
  static constexpr int kRanks = 2;

  // `flags` are the recorder's.
  explicit NumberedJob(const std::vector<std::string>& flags = {});
  ~NumberedJob();
  NumberedJob(const NumberedJob&) = delete;
  NumberedJob& operator=(const NumberedJob&) = delete;

  // Both ranks have emitted something and have a file. False if that never came about.
  bool await_first();
  Progress& progress(int rank) { return *progress_[rank]; }
  void kill(int rank);
  void kill_recorder();
  end_to_end::Outcome finish() { return run_->finish(); }
  std::string run_path() const { return folder_ / "run"; }
  std::string folder(const std::string& name) const { return folder_ / name; }

  // Of rank `rank` in the run folder `run`. Fails the test where the file can't be read, or where the marks
  // are not 0, 1, 2, … up to the last one that is there.
  Remains remains(const std::string& run, int rank) const;

 private:
  end_to_end::TemporaryFolder folder_;
  Progress* progress_[kRanks] = {};
  std::unique_ptr<end_to_end::BackgroundRun> run_;
};

}  // namespace lockstep::torture

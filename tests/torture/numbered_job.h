// Two recorded ranks that emit numbered marks until the test ends them, and what is left of each.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/end_to_end/background_run.h"
#include "tests/torture/progress.h"

namespace lockstep::torture {

// How many of a rank's calls have returned, and when the last of them did (CLOCK_MONOTONIC).
struct Returned {
  std::int64_t marks = 0;
  std::int64_t last = 0;
};

// What of a rank's marks a file holds, beside how many calls had returned.
struct Remains {
  std::int64_t kept = 0;
  std::int64_t lost = 0;        // of the calls that had returned
  std::int64_t lost_ns = 0;     // from the last one kept to the last one that returned
  std::int64_t held_up_ns = 0;  // of that the machine kept the writing thread from running (Beat)
  bool complete = false;
  bool after_death = false;  // a survivor wrote what was left
};

class NumberedJob {
 public:
  static constexpr int kRanks = 2;

  // Of the second rank the marks may be a worker's, forked from it, with a file of its own.
  enum class Second : std::uint8_t { itself, worker };

  // `flags` are the recorder's.
  explicit NumberedJob(const std::vector<std::string>& flags = {}, Second second = Second::itself);
  ~NumberedJob();
  NumberedJob(const NumberedJob&) = delete;
  NumberedJob& operator=(const NumberedJob&) = delete;

  // Both ranks have emitted something and have a file. False if that never came about.
  bool await_first();
  Progress& progress(int rank) { return *progress_[rank]; }
  Returned returned(int rank) const;
  void kill(int rank);
  // With what --survive-kill put beside it, of which it says whether there was one.
  bool kill_with_survivor(int rank);
  // What --survive-kill put beside it, alone; says whether there was one.
  bool kill_survivor(int rank);
  // One right after the other.
  void kill_all();
  void kill_recorder();
  end_to_end::Outcome finish() { return run_->finish(); }
  std::string run_path() const { return folder_ / "run"; }
  std::string folder(const std::string& name) const { return folder_ / name; }

  // Of rank `rank` in the run folder `run`, beside what had returned by now, or by then. Fails the test where
  // the file can't be read, or where the marks are not 0, 1, 2, … up to the last one that is there.
  Remains remains(const std::string& run, int rank) const { return remains(run, rank, returned(rank)); }
  Remains remains(const std::string& run, int rank, const Returned& returned) const;
  // Waits until the rank has closed its file, as one does that no recorder waits for.
  bool await_closed(int rank) const;

 private:
  // Where a rank's marks are. A worker's file is the one that is no rank's.
  std::string file_of(const std::string& run, int rank) const;

  end_to_end::TemporaryFolder folder_;
  Second second_;
  Progress* progress_[kRanks] = {};
  std::unique_ptr<end_to_end::BackgroundRun> run_;
};

// Between none and 1.2 seconds: longer than from one flush to the next.
void wait_for_a_moment(std::mt19937_64& random);

// What trials lost, each of which may lose a second.
//
// The writing thread hands all that was recorded to the kernel every 600 ms at most: it looks every 200 ms
// (kDrainMilliseconds) and writes at the first look 450 ms after the last write (kFlushNanoseconds). The
// promise is one second, and a machine that has no time for that thread, or a disk that makes it wait, can
// break it: what numbered_marks saw of that is taken off before a trial fails, and nothing else is.
class Losses {
 public:
  // Fails the test where it is more than a second.
  void add(const Remains& remains);
  // "median 212 ms, at most 583 ms"; with how many were beyond a second, and why, where there were any.
  std::string in_words() const;

 private:
  std::vector<std::int64_t> nanoseconds_;
  int beyond_ = 0;
};

}  // namespace lockstep::torture

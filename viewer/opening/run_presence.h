// Whether the recent runs are still where they were: asked on threads beside the drawing, because a file
// system that does not answer (NFS whose server is gone) holds up whoever asks it, for hours.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "viewer/opening/recent_runs.h"

namespace lockstep::viewer {

class RunPresence {
 public:
  using Look = std::function<Presence(const RecentRun&)>;

  // `tell`: called from another thread with each answer. `look`: may take any time, on several threads at
  // once; of what throws, nothing is known.
  explicit RunPresence(std::function<void()> tell = {}, Look look = presence_of);
  // Waits for no answer. From then on nobody is told; threads that still wait for a file system end by
  // themselves, or with the process.
  ~RunPresence();
  RunPresence(const RunPresence&) = delete;
  RunPresence& operator=(const RunPresence&) = delete;

  // Asks about each of these, whatever was known before; but not again as long as an answer is due, so that
  // there is never more than one thread a run.
  void look(const std::vector<RecentRun>& runs);
  // The last answer; unknown before the first.
  Presence of(const RecentRun& run) const;
  // Until no answer is due, at most so long. False: one still is.
  bool wait_for(std::chrono::milliseconds most) const;

 private:
  struct Answers;
  std::shared_ptr<Answers> answers_;  // with the threads
};

}  // namespace lockstep::viewer

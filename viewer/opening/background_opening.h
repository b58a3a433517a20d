// Opens runs on threads of their own, while a window shows how far they are.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/result.h"
#include "viewer/opening/run_request.h"

namespace lockstep::viewer {

enum class OpeningState : std::uint8_t { idle, opening, ready, failed };

// One run at a time is of interest. An earlier one that is still being opened is asked to stop and left
// behind: what becomes of it nobody sees. To be used from one thread.
class BackgroundOpening {
 public:
  using Opener =
      std::function<Result<OpenedRun>(const RunRequest&, const TellProgress&, const std::stop_token&)>;

  // `tell`: called from a worker when the run of interest is ready or has failed; not after finish().
  explicit BackgroundOpening(std::function<void()> tell = {}, Opener opener = open_request);
  // Waits for all workers: finish() says first whether that is soon.
  ~BackgroundOpening();
  BackgroundOpening(const BackgroundOpening&) = delete;
  BackgroundOpening& operator=(const BackgroundOpening&) = delete;

  void open(const RunRequest& request);
  void cancel();

  OpeningState state() const;
  // Never goes back while a run is being opened.
  OpeningProgress progress() const;
  std::chrono::milliseconds elapsed() const;
  // Until it is no longer being opened, at most so long. False: it still is.
  bool wait_for(std::chrono::milliseconds most) const;
  // The run, or why there is none, once; nothing while it is being opened. Idle afterwards.
  std::optional<Result<OpenedRun>> take();

  // Asks all workers to stop and waits at most so long. False: one of them works on (a stage that cannot be
  // stopped), so this object can only be left by ending the process without destroying it (std::_Exit).
  // Nothing is lost then: unfinished files have no name.
  bool finish(std::chrono::milliseconds most);

 private:
  struct Work;
  struct Worker {
    std::shared_ptr<Work> work;
    std::thread thread;
  };
  void join_those_that_ended();

  std::function<void()> tell_;
  Opener opener_;
  std::shared_ptr<Work> current_;  // none: idle
  std::vector<Worker> workers_;
};

}  // namespace lockstep::viewer

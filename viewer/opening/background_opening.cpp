#include "viewer/opening/background_opening.h"

#include <exception>
#include <new>
#include <system_error>
#include <utility>

namespace lockstep::viewer {

namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

// Shared with its worker.
struct BackgroundOpening::Work {
  RunRequest request;
  Clock::time_point begin = Clock::now();
  std::stop_source stop;

  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  OpeningProgress progress;
  std::optional<Result<OpenedRun>> result;
  bool ended = false;
  std::function<void()> tell;  // empty: nobody is interested any more

  void advance(const OpeningProgress& now) {
    const std::lock_guard lock(mutex);
    if (now.run == progress.run) progress.bytes = now.bytes;
    if (now.share() >= progress.share()) progress = now;
  }

  void end(Result<OpenedRun> outcome) {
    const std::lock_guard lock(mutex);
    ended = true;
    if (!stop.stop_requested()) result.emplace(std::move(outcome));
    // Under the lock: whoever takes the interest away knows that no call is under way.
    if (tell) tell();
    changed.notify_all();
  }

  bool wait_for_end(Clock::time_point until) const {
    std::unique_lock lock(mutex);
    return changed.wait_until(lock, until, [this] { return ended; });
  }
};

BackgroundOpening::BackgroundOpening(std::function<void()> tell, Opener opener)
    : tell_(std::move(tell)), opener_(std::move(opener)) {}

BackgroundOpening::~BackgroundOpening() {
  cancel();
  for (Worker& worker : workers_)
    if (worker.thread.joinable()) worker.thread.join();
}

void BackgroundOpening::open(const RunRequest& request) {
  cancel();
  join_those_that_ended();
  current_ = std::make_shared<Work>();
  current_->request = request;
  current_->progress.runs = request.other.empty() ? 1 : 2;
  current_->tell = tell_;
  const auto run = [work = current_, opener = opener_] {
    // Memory that runs out must not take the window along.
    const auto outcome = [&]() -> Result<OpenedRun> {
      try {
        return opener(
            work->request, [&work](const OpeningProgress& now) { work->advance(now); },
            work->stop.get_token());
      } catch (const std::bad_alloc&) {
        return Error{"not enough memory to open it"};
      } catch (const std::exception& error) {
        return Error{error.what()};
      }
    };
    work->end(outcome());
  };
  try {
    workers_.push_back({current_, std::thread(run)});
  } catch (const std::system_error& error) {
    current_->end(Error{std::string("no thread to open it with: ") + error.what()});
  }
}

void BackgroundOpening::cancel() {
  const std::shared_ptr<Work> work = std::exchange(current_, nullptr);
  if (!work) return;
  work->stop.request_stop();
  const std::lock_guard lock(work->mutex);
  work->tell = {};
}

void BackgroundOpening::join_those_that_ended() {
  std::erase_if(workers_, [](Worker& worker) {
    if (!worker.work->wait_for_end(Clock::now())) return false;
    worker.thread.join();
    return true;
  });
}

OpeningState BackgroundOpening::state() const {
  if (!current_) return OpeningState::idle;
  const std::lock_guard lock(current_->mutex);
  if (!current_->result) return OpeningState::opening;
  return current_->result->ok() ? OpeningState::ready : OpeningState::failed;
}

OpeningProgress BackgroundOpening::progress() const {
  if (!current_) return {};
  const std::lock_guard lock(current_->mutex);
  return current_->progress;
}

std::chrono::milliseconds BackgroundOpening::elapsed() const {
  if (!current_) return {};
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - current_->begin);
}

bool BackgroundOpening::wait_for(std::chrono::milliseconds most) const {
  return !current_ || current_->wait_for_end(Clock::now() + most);
}

std::optional<Result<OpenedRun>> BackgroundOpening::take() {
  if (!current_) return std::nullopt;
  std::optional<Result<OpenedRun>> result;
  {
    const std::lock_guard lock(current_->mutex);
    if (!current_->result) return std::nullopt;
    result = std::exchange(current_->result, std::nullopt);
  }
  current_.reset();
  return result;
}

bool BackgroundOpening::finish(std::chrono::milliseconds most) {
  cancel();
  const Clock::time_point until = Clock::now() + most;
  bool all = true;
  for (const Worker& worker : workers_) all = worker.work->wait_for_end(until) && all;
  if (all) join_those_that_ended();
  return all;
}

}  // namespace lockstep::viewer

#include "viewer/opening/run_watch.h"

#include <algorithm>
#include <utility>

#include "viewer/opening/prepared_file.h"

namespace lockstep::viewer {

OnDisk compare_with_disk(const std::vector<WatchedRun>& runs) {
  OnDisk worst = OnDisk::same;
  for (const WatchedRun& run : runs) {
    const InputFiles files = look_at(run.paths);
    const OnDisk found = files.count == 0                       ? OnDisk::gone
                         : files.fingerprint != run.fingerprint ? OnDisk::changed
                                                                : OnDisk::same;
    worst = std::max(worst, found);
  }
  return worst;
}

RunWatch::RunWatch(std::vector<WatchedRun> runs, std::function<void()> tell,
                   std::chrono::milliseconds interval, Look look)
    : runs_(std::move(runs)),
      tell_(std::move(tell)),
      interval_(interval),
      look_(std::move(look)),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

RunWatch::~RunWatch() = default;

OnDisk RunWatch::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void RunWatch::look_now() {
  const std::lock_guard lock(mutex_);
  now_ = true;
  wake_.notify_all();
}

void RunWatch::work(const std::stop_token& stop) {
  // A look takes a thousandth of the time at most.
  constexpr int kRarely = 1'000;
  std::chrono::milliseconds pause = interval_;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, stop, pause, [this] { return now_; });
      if (stop.stop_requested()) return;
      now_ = false;
    }
    const auto begin = std::chrono::steady_clock::now();
    const OnDisk found = look_(runs_);
    const auto took = std::chrono::steady_clock::now() - begin;
    pause = std::max(interval_, std::chrono::duration_cast<std::chrono::milliseconds>(took * kRarely));
    bool other = false;
    {
      const std::lock_guard lock(mutex_);
      other = std::exchange(state_, found) != found;
    }
    if (other && tell_) tell_();
  }
}

}  // namespace lockstep::viewer

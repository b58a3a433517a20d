// Tells when the files of an open run change or vanish. What is shown stays right: it was read, or is mapped.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace lockstep::viewer {

// A run and what its files looked like when it was opened (look_at()).
struct WatchedRun {
  std::vector<std::string> paths;
  std::uint64_t fingerprint = 0;
};

enum class OnDisk : std::uint8_t { same, changed, gone };

// Of several the worst. Gone: no file is left where the paths lead to.
OnDisk compare_with_disk(const std::vector<WatchedRun>& runs);

// Looks from a thread of its own, seconds apart, and ever more rarely where looking takes long.
class RunWatch {
 public:
  using Look = std::function<OnDisk(const std::vector<WatchedRun>&)>;
  static constexpr std::chrono::milliseconds kInterval{3'000};

  // `tell`: called from that thread whenever the answer is another than before.
  RunWatch(std::vector<WatchedRun> runs, std::function<void()> tell,
           std::chrono::milliseconds interval = kInterval, Look look = compare_with_disk);
  // Waits for a look that is under way.
  ~RunWatch();
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  // What the last look found; `same` before the first.
  OnDisk state() const;
  // Not to wait for the next time: the user is back.
  void look_now();

 private:
  void work(const std::stop_token& stop);

  const std::vector<WatchedRun> runs_;
  const std::function<void()> tell_;
  const std::chrono::milliseconds interval_;
  const Look look_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  OnDisk state_ = OnDisk::same;
  bool now_ = false;
  std::jthread thread_;  // the last: it uses all of the above
};

}  // namespace lockstep::viewer

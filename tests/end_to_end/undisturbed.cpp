#include "tests/end_to_end/undisturbed.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace lockstep::end_to_end {
namespace {

constexpr std::int64_t kSleep = 5'000'000;  // ns
// A machine of one's own wakes a thread of the highest priority within a tenth of that.
constexpr std::int64_t kLateOnAverage = 500'000;

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

}  // namespace

Undisturbed::Undisturbed() {
  // Whoever runs this elsewhere on the machine, at the same priority, would delay this job: one after the
  // other.
  const auto path = std::filesystem::temp_directory_path() / "lockstep-real-time.lock";
  lock_ = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
  flock(lock_, LOCK_EX);
  // Inherited by the job.
  const sched_param lowest{.sched_priority = sched_get_priority_min(SCHED_RR)};
  real_time_ = sched_setscheduler(0, SCHED_RR, &lowest) == 0;
  watcher_ = std::thread([this] { watch(); });
}

Undisturbed::~Undisturbed() {
  over_ = true;
  watcher_.join();
  if (real_time_) {
    const sched_param usual{};
    sched_setscheduler(0, SCHED_OTHER, &usual);
  }
  close(lock_);
}

// Above the job: that the job keeps the cores busy is no disturbance.
void Undisturbed::watch() {
  const sched_param highest{.sched_priority = sched_get_priority_max(SCHED_RR)};
  sched_setscheduler(0, SCHED_RR, &highest);
  while (!over_) {
    const std::int64_t due = now() + kSleep;
    const timespec until{due / 1'000'000'000, due % 1'000'000'000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {
    }
    const std::int64_t late = now() - due;
    ++wakes_;
    late_ns_ += late;
    latest_ns_ = std::max<std::int64_t>(latest_ns_, late);
  }
}

bool Undisturbed::at_some_pace(const std::function<bool(int pace)>& is_near) {
  return is_near(1) || is_near(2) || is_near(4);
}

std::string Undisturbed::disturbance() const {
  if (!real_time_)
    return "real-time priority is not allowed here: it may be the delay that other programs cause";
  const std::int64_t average = late_ns_ / std::max<std::int64_t>(wakes_, 1);
  if (average < kLateOnAverage) return "";
  return fmt::format(
      "this machine wakes a thread of the highest priority {:.2f} ms late on average, {:.2f} ms at most",
      1e-6 * static_cast<double>(average), 1e-6 * static_cast<double>(latest_ns_));
}

}  // namespace lockstep::end_to_end

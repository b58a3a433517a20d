#include "tracer/inject/sources/host/process_meter.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tracer/inject/core/own_file.h"
#include "tracer/inject/sources/host/files.h"

namespace lockstep::tracer::host {

namespace {

constexpr double kNanoseconds = 1e-9;

std::uint64_t nanoseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_usec) * 1000U;
}

std::optional<ScheduleTimes> read_schedstat(std::uint32_t thread) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%u/schedstat", thread);
  std::array<char, 96> text{};
  return parse_schedstat(read_own_file(path.data(), text));
}

}  // namespace

void ProcessMeter::describe(std::vector<Quantity>& quantities) {
  using enum Quantity::Kind;
  quantities.insert(quantities.end(), {{"cpu user (cores)", rate, kNanoseconds},
                                       {"cpu system (cores)", rate, kNanoseconds},
                                       {"page faults minor (per s)", rate},
                                       {"page faults major (per s)", rate},
                                       {"context switches voluntary (per s)", rate},
                                       {"context switches involuntary (per s)", rate},
                                       {"memory resident (bytes)", gauge},
                                       {"main thread on processor", gauge},
                                       {"main thread migrations (per s)", rate},
                                       {"main thread run-queue delay (share)", rate, kNanoseconds}});
}

void ProcessMeter::read(Amount* readings) noexcept {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    const std::array<std::uint64_t, 6> values{
        nanoseconds(usage.ru_utime),
        nanoseconds(usage.ru_stime),
        static_cast<std::uint64_t>(usage.ru_minflt),
        static_cast<std::uint64_t>(usage.ru_majflt),
        static_cast<std::uint64_t>(usage.ru_nvcsw),
        static_cast<std::uint64_t>(usage.ru_nivcsw),
    };
    std::copy(values.begin(), values.end(), readings);
  }
  std::array<char, 4096> text{};
  const Amount pages = parse_resident_pages(read_own_file("/proc/self/statm", text));
  has_resident_ = pages.has_value();
  if (pages.has_value()) readings[6] = *pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  // /proc/self is the main thread's folder, but its stat sums over all threads: the task's own does not.
  const auto process = static_cast<unsigned>(getpid());
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%u/stat", process);
  readings[7] = parse_processor(read_own_file(path.data(), text));
  std::snprintf(path.data(), path.size(), "/proc/self/task/%u/sched", process);
  readings[8] = parse_migrations(read_own_file(path.data(), text));
  if (const auto times = read_schedstat(process)) readings[9] = times->waiting_ns;
}

std::string ProcessMeter::problem() const {
  return has_resident_ ? "" : "/proc cannot be read: no memory, processor and run-queue delay";
}

void ThreadMeter::describe(std::vector<Quantity>& quantities) {
  quantities.push_back({"run-queue delay of all threads (threads)", Quantity::Kind::rate, kNanoseconds});
}

// Threads that are new since the last listing come in with what they have waited so far; those of the first
// listing begin now.
void ThreadMeter::list() noexcept {
  const std::size_t listed = list_numbers("/proc/self/task", listed_);
  too_many_ = listed == kMaxThreads;
  const auto end = listed_.begin() + static_cast<std::ptrdiff_t>(listed);
  std::sort(listed_.begin(), end);
  const auto gone = [&](const Followed& one) {
    return !std::binary_search(listed_.begin(), end, one.thread);
  };
  const auto kept =
      std::remove_if(followed_.begin(), followed_.begin() + static_cast<std::ptrdiff_t>(count_), gone);
  count_ = static_cast<std::size_t>(kept - followed_.begin());
  const auto by_thread = [](const Followed& a, const Followed& b) { return a.thread < b.thread; };
  std::sort(followed_.begin(), kept, by_thread);
  const std::size_t known = count_;
  for (auto thread = listed_.begin(); thread != end && count_ < kMaxThreads; ++thread) {
    const auto known_end = followed_.begin() + static_cast<std::ptrdiff_t>(known);
    if (std::binary_search(followed_.begin(), known_end, Followed{*thread, 0}, by_thread)) continue;
    followed_[count_] = {*thread, 0};
    if (const auto times = first_ ? read_schedstat(*thread) : std::nullopt) {
      followed_[count_].waiting_ns = times->waiting_ns;
    }
    ++count_;
  }
  first_ = false;
}

void ThreadMeter::read(Amount* readings) noexcept {
  if (sample_++ % kSamplesAListing == 0) list();
  bool any = false;
  for (std::size_t i = 0; i < std::min(count_, kThreadsATime); ++i) {
    Followed& one = followed_[next_++ % count_];
    const auto times = read_schedstat(one.thread);
    if (!times.has_value()) continue;  // ended since the listing
    any = true;
    // A thread number may have gone to another thread: its time is smaller, and all of it new.
    waiting_ns_ +=
        times->waiting_ns >= one.waiting_ns ? times->waiting_ns - one.waiting_ns : times->waiting_ns;
    one.waiting_ns = times->waiting_ns;
  }
  if (count_ != 0) next_ %= count_;
  available_ = any;
  if (any) readings[0] = waiting_ns_;
}

std::string ThreadMeter::problem() const {
  if (!available_) return "no schedstat of threads: no run-queue delay";
  return too_many_ ? "run-queue delay of the first 512 threads only" : "";
}

}  // namespace lockstep::tracer::host

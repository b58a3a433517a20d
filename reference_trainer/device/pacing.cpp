#include "reference_trainer/device/pacing.h"

#include <sys/prctl.h>
#include <time.h>

#include <cerrno>
#include <cmath>

namespace lockstep::trainer {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Of the larger side, what each rank sends.
double share_sent(trace::Operation operation, int size) {
  const double others = static_cast<double>(size - 1) / size;
  switch (operation) {
    case trace::Operation::all_reduce:
      return 2 * others;
    case trace::Operation::all_gather:
    case trace::Operation::reduce_scatter:
    case trace::Operation::all_to_all:
    case trace::Operation::gather:
    case trace::Operation::scatter:
      return others;
    default:
      return 1;
  }
}

}  // namespace

std::int64_t monotonic_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

void sleep_until(std::int64_t monotonic_ns) {
  const timespec time{monotonic_ns / kSecond, monotonic_ns % kSecond};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
  }
}

void sleep_exactly() {
  prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);
}

std::int64_t modelled_transfer_ns(const PaceOptions& pace, trace::Operation operation, std::uint64_t bytes,
                                  int size) {
  if (pace.bytes_per_second == 0 && pace.latency_us == 0) return 0;
  const double sent = static_cast<double>(bytes) * share_sent(operation, size);
  const double transfer = pace.bytes_per_second == 0 ? 0 : sent / pace.bytes_per_second;
  return std::llround(pace.latency_us * 1e3 + transfer * 1e9);
}

}  // namespace lockstep::trainer

#include "cli/analysis/memory_limit/pressure.h"

#include <algorithm>

namespace lockstep::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMega = std::uint64_t{1} << 20U;
constexpr std::uint64_t kPart = 16 * kMega;
// For what comes in between two looks.
constexpr std::uint64_t kRoom = 256 * kMega;

// A signal may come to this thread in the middle of a look.
thread_local constinit volatile bool is_looking = false;

}  // namespace

Pressure::Pressure(std::uint64_t limit, SpillSpace& space)
    : limit_(limit),
      high_(limit - std::max(limit / 4, std::min(limit / 2, kRoom))),
      low_(high_ - limit / 8),
      between_looks_(std::max(limit / 64, kMega)),
      space_(space) {}

Resident::Bytes Pressure::relieve(std::uint64_t more) noexcept {
  is_looking = true;
  Resident::Bytes before;
  {
    const std::scoped_lock lock(lock_);
    before = relieve_locked(more);
  }
  is_looking = false;
  return before;
}

void Pressure::relieve_in_handler() noexcept {
  if (!is_looking) relieve();
}

Resident::Bytes Pressure::relieve_locked(std::uint64_t more) noexcept {
  const Resident::Bytes before = resident_.look();
  const std::uint64_t near = before.all + std::min(more, limit_ / 4);
  if (near < high_) return before;
  // Small blocks alone are too much: to take large ones out again and again would help nobody.
  const auto now = std::chrono::steady_clock::now();
  if (before.anonymous > high_ && now < not_before_) return before;
  const std::uint64_t extent = space_.extent();
  if (near > high_ + (limit_ - high_) / 2) {
    space_.take_out(extent);
  } else {
    for (std::uint64_t gone = 0; gone < extent && resident_.now() > low_; gone += kPart)
      space_.take_out(kPart);
  }
  not_before_ = now + 100ms;
  return before;
}

void Pressure::before_allocating(std::uint64_t bytes) noexcept {
  const std::uint64_t before = asked_.fetch_add(bytes, std::memory_order_relaxed);
  if (before / between_looks_ != (before + bytes) / between_looks_) relieve(bytes);
}

}  // namespace lockstep::cli

#include "viewer/timeline/read_ahead.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "viewer/timeline/bytes_drawn.h"

#ifndef MADV_POPULATE_READ  // in headers older than the kernels that have it (5.14)
#define MADV_POPULATE_READ 22
#endif

namespace lockstep::viewer {

namespace {

bool covers(const std::optional<TimeRange>& outer, const TimeRange& inner) {
  return outer && outer->begin <= inner.begin && inner.end <= outer->end;
}

}  // namespace

void read_in(std::span<const std::byte> bytes, const std::function<bool()>& go_on) {
  if (bytes.empty()) return;
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  constexpr std::uintptr_t kPart = std::uintptr_t{1} << 20U;
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data()) / page * page;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(bytes.data()) + bytes.size();
  for (std::uintptr_t at = begin; at < end && go_on(); at += kPart) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the page on which they begin
    auto* const part = reinterpret_cast<std::byte*>(at);
    const std::size_t size = std::min(kPart, end - at);
    if (::madvise(part, size, MADV_POPULATE_READ) == 0) continue;
    if (errno != EINVAL) return;  // the file was cut, or there is no memory: frames see to it
    for (std::size_t offset = 0; offset < size; offset += page)
      (void)*static_cast<const volatile std::byte*>(part + offset);
  }
}

void ReadAhead::want(std::vector<std::uint32_t> ranks, const TimeRange& range) {
  if (scene_.tables().size_in_bytes() < small_) return;
  if (ranks == asked_ranks_ && range.begin == asked_range_.begin && range.end == asked_range_.end) return;
  asked_ranks_ = ranks;
  asked_range_ = range;
  {
    const std::scoped_lock lock(mutex_);
    next_ = Wanted{std::move(ranks), range};
  }
  changed_.notify_all();
  if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stopped) { work(stopped); });
}

void ReadAhead::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !next_ && !busy_; });
}

void ReadAhead::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

bool ReadAhead::outdated(const std::stop_token& stopped) {
  if (stopped.stop_requested()) return true;
  const std::scoped_lock lock(mutex_);
  return next_.has_value();
}

void ReadAhead::work(const std::stop_token& stopped) {
  done_.resize(scene_.timeline().ranks.size());
  while (true) {
    Wanted wanted;
    {
      std::unique_lock lock(mutex_);
      busy_ = false;
      changed_.notify_all();
      if (!changed_.wait(lock, stopped, [this] { return next_.has_value(); })) return;
      wanted = *std::exchange(next_, std::nullopt);
      busy_ = true;
    }
    read(wanted, stopped);
  }
}

void ReadAhead::read(const Wanted& wanted, const std::stop_token& stopped) {
  // What was left may have gone from memory since.
  std::vector<std::optional<TimeRange>> still(done_.size());
  for (const std::uint32_t rank : wanted.ranks) still[rank] = done_[rank];
  done_ = std::move(still);
  const auto go_on = [&] { return !outdated(stopped); };
  std::size_t size = 0;
  for (const std::uint32_t rank : wanted.ranks) {
    if (covers(done_[rank], wanted.range)) continue;
    for (const std::span<const std::byte> bytes : bytes_drawn(scene_, rank, wanted.range)) {
      size += bytes.size();
      if (size > kMost || !go_on()) return;
      read_in(bytes, go_on);
    }
    if (!go_on()) return;
    done_[rank] = wanted.range;
  }
}

}  // namespace lockstep::viewer

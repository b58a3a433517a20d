#include "viewer/timeline/read_ahead.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#ifndef MADV_POPULATE_READ  // in headers older than the kernels that have it (5.14)
#define MADV_POPULATE_READ 22
#endif

namespace lockstep::viewer {

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

void ReadAhead::want(std::vector<RowOfRank> rows, const TimeRange& range) {
  if (scene_.tables().size_in_bytes() < small_) return;
  if (rows == asked_rows_ && range.begin == asked_range_.begin && range.end == asked_range_.end) return;
  asked_rows_ = rows;
  asked_range_ = range;
  {
    const std::scoped_lock lock(mutex_);
    next_ = Wanted{std::move(rows), range};
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
  const auto go_on = [&] { return !outdated(stopped); };
  // Of other ranks it is forgotten: what they left may have gone from memory since.
  std::map<std::uint32_t, Done> before = std::exchange(done_, {});
  std::size_t left = kMost;
  for (auto first = wanted.rows.begin(); first != wanted.rows.end() && left > 0;) {
    const auto last =
        std::find_if(first, wanted.rows.end(), [&](const RowOfRank& row) { return row.rank != first->rank; });
    const std::span<const RowOfRank> rows(first, last);
    const auto known = before.find(first->rank);
    first = last;
    if (known != before.end() && std::ranges::equal(known->second.rows, rows) &&
        known->second.range.begin <= wanted.range.begin && wanted.range.end <= known->second.range.end) {
      done_.insert(before.extract(known));
      continue;
    }
    for (const std::span<const std::byte> bytes : bytes_drawn(scene_, rows, wanted.range)) {
      const auto part = bytes.first(std::min(bytes.size(), left));
      left -= part.size();
      read_in(part, go_on);
    }
    if (left == 0 || !go_on()) return;
    done_[rows.front().rank] = {{rows.begin(), rows.end()}, wanted.range};
  }
}

}  // namespace lockstep::viewer

#include "tracer/inject/sources/scheduling/followed_threads.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "tracer/inject/core/training_threads.h"
#include "tracer/inject/sources/host/files.h"
#include "tracer/inject/sources/scheduling/thread_times.h"

namespace lockstep::tracer::scheduling {

namespace {

using Name = std::array<char, 16>;

// It was told to train: what it waits in says nothing against it.
bool is_training(std::uint32_t thread) noexcept {
  for (std::size_t n = 0; const std::uint32_t training = training_thread(n); ++n)
    if (training == thread) return true;
  return false;
}

bool has_name_of_autograd(std::string_view name) noexcept {
  return name.starts_with("pt_autograd");
}

// Of the program, beside training. Autograd's threads run Python where its nodes or hooks are the program's.
bool is_pythons(std::uint32_t thread, std::string_view name) noexcept {
  return is_python_thread(thread) && !has_name_of_autograd(name);
}

bool is_pythons(std::uint32_t thread) noexcept {
  Name name{};
  return is_python_thread(thread) && read_name(thread, name.data()) && is_pythons(thread, name.data());
}

}  // namespace

bool FollowedThreads::is_followed(std::uint32_t thread) const noexcept {
  return std::find(slots_.begin(), slots_.end(), thread) != slots_.end();
}

bool FollowedThreads::belongs_to_pool(std::uint32_t thread) const noexcept {
  if (is_communication_thread(thread)) return false;
  Name name{};
  if (!read_name(thread, name.data())) return false;
  const std::string_view text(name.data());
  if (has_name_of_autograd(text)) return true;
  if (text.starts_with("lockstep") || is_pythons(thread, text)) return false;
  for (std::size_t n = 0; const std::uint32_t training = training_thread(n); ++n) {
    Name other{};
    if (read_name(training, other.data()) && other == name) return true;
  }
  return false;
}

void FollowedThreads::sort_out_listed(std::size_t count) noexcept {
  const std::span listed(listed_.data(), count);
  const auto is_listed = [&](std::uint32_t thread) {
    return std::binary_search(listed.begin(), listed.end(), thread);
  };
  auto* const end = waiting_for_events_.begin() + static_cast<std::ptrdiff_t>(waiting_count_);
  waiting_count_ =
      static_cast<std::size_t>(std::remove_if(waiting_for_events_.begin(), end,
                                              [&](std::uint32_t thread) { return !is_listed(thread); }) -
                               waiting_for_events_.begin());
  for (std::size_t slot = 0; slot < used_; ++slot) {
    const std::uint32_t thread = slots_[slot];
    if (thread == 0 || is_training(thread)) continue;
    const bool waits = waits_for_events(thread);
    if (waits) note_waiting(thread);
    if (waits || is_pythons(thread)) leave(slot);
  }
}

void FollowedThreads::note_waiting(std::uint32_t thread) noexcept {
  if (waiting_count_ < waiting_for_events_.size()) waiting_for_events_[waiting_count_++] = thread;
}

void FollowedThreads::follow(std::uint32_t thread, RunProfile& profile, trace::Nanoseconds now,
                             bool is_new) noexcept {
  auto* slot = std::find(slots_.begin(), slots_.end(), 0U);
  const std::size_t logged = logged_.load(std::memory_order_relaxed);
  if (slot == slots_.end() || logged == kMaxLogged) return;
  const host::Amount ran = read_on_cpu(thread);
  if (!ran.has_value()) return;  // gone again
  const host::Amount waited = read_waited(thread);
  if (!waited.has_value()) {
    // Just born, it may not have run yet, and is looked at again.
    if (*ran > 0 && read_on_cpu(thread).has_value()) can_read_ = false;
    return;
  }
  const auto index = static_cast<std::size_t>(slot - slots_.begin());
  used_ = std::max(used_, index + 1);
  *slot = thread;
  profile.follow(index, *ran, *waited, is_new ? std::optional(listed_at_) : std::nullopt);
  log_[logged] = {thread, now};
  logged_.store(logged + 1, std::memory_order_release);
}

void FollowedThreads::update(RunProfile& profile, trace::Nanoseconds now, bool list) noexcept {
  // NOLINTNEXTLINE(bugprone-infinite-loop): `n` changes, and with it what is asked for
  for (std::size_t n = 0; const std::uint32_t training = training_thread(n); ++n) {
    if (!is_followed(training)) follow(training, profile, now, false);
  }
  if (!list) return;
  const std::size_t count = host::list_numbers("/proc/self/task", listed_);
  std::sort(listed_.begin(), listed_.begin() + static_cast<std::ptrdiff_t>(count));
  sort_out_listed(count);
  const std::span before(listed_before_.data(), listed_before_count_);
  const auto own = static_cast<std::uint32_t>(syscall(SYS_gettid));  // who looks does not train
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t thread = listed_[i];
    const std::span waiting(waiting_for_events_.data(), waiting_count_);
    if (thread == own || is_followed(thread) ||
        std::find(waiting.begin(), waiting.end(), thread) != waiting.end() || !belongs_to_pool(thread))
      continue;
    if (waits_for_events(thread)) {
      note_waiting(thread);
      continue;
    }
    const bool is_new = listed_at_ != 0 && !std::binary_search(before.begin(), before.end(), thread);
    follow(thread, profile, now, is_new);
  }
  listed_before_ = listed_;
  listed_before_count_ = count;
  listed_at_ = now;
}

}  // namespace lockstep::tracer::scheduling

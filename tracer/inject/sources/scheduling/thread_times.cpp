#include "tracer/inject/sources/scheduling/thread_times.h"

#include <sys/syscall.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "tracer/inject/core/own_file.h"
#include "tracer/inject/sources/host/files.h"

namespace lockstep::tracer::scheduling {

namespace {

using Path = std::array<char, 64>;

Path path_of(std::uint32_t thread, const char* file) noexcept {
  Path path{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%u/%s", thread, file);
  return path;
}

// The kernel's clock of one thread's time, as pthread_getcpuclockid() makes it.
clockid_t clock_of(std::uint32_t thread) noexcept {
  constexpr unsigned kScheduledThread = 6;
  return static_cast<clockid_t>((~thread << 3U) | kScheduledThread);
}

constexpr std::array kWaitingCalls{
#ifdef SYS_epoll_wait
    SYS_epoll_wait,
#endif
#ifdef SYS_poll
    SYS_poll,        SYS_select,
#endif
    SYS_epoll_pwait, SYS_ppoll,  SYS_pselect6,        SYS_accept,    SYS_accept4, SYS_recvfrom,
    SYS_recvmsg,     SYS_read,   SYS_clock_nanosleep, SYS_nanosleep, SYS_wait4,   SYS_rt_sigtimedwait};

}  // namespace

host::Amount read_on_cpu(std::uint32_t thread) noexcept {
  timespec time{};
  if (clock_gettime(clock_of(thread), &time) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

host::Amount read_waited(std::uint32_t thread) noexcept {
  std::array<char, 96> text{};
  const auto times = host::parse_schedstat(read_own_file(path_of(thread, "schedstat").data(), text));
  // A kernel that does not count says "0 0 0" of a thread that has run.
  if (!times.has_value() || times->running_ns == 0) return std::nullopt;
  return times->waiting_ns;
}

bool read_name(std::uint32_t thread, char* name) noexcept {
  constexpr std::size_t kLongest = 15;
  std::array<char, 32> text{};
  std::string_view read = read_own_file(path_of(thread, "comm").data(), text);
  if (!read.empty() && read.back() == '\n') read.remove_suffix(1);
  const std::size_t length = std::min(read.size(), kLongest);
  std::copy_n(read.begin(), length, name);  // nothing where the thread has ended
  name[length] = '\0';
  return length > 0;
}

bool waits_for_events(std::uint32_t thread) noexcept {
  std::array<char, 256> text{};
  const std::string_view line = read_own_file(path_of(thread, "syscall").data(), text);
  // "232 0x5 …", or "running".
  const host::Amount call = host::parse_number(line.substr(0, std::min(line.size(), line.find(' '))));
  return call.has_value() && std::any_of(kWaitingCalls.begin(), kWaitingCalls.end(),
                                         [&](long one) { return static_cast<std::uint64_t>(one) == *call; });
}

}  // namespace lockstep::tracer::scheduling

#include "tracer/recorder/stacks.h"

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

#include "base/numbers.h"
#include "base/small_file.h"
#include "tracer/recorder/symbols.h"

namespace lockstep::tracer::record {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxThreads = 256;
constexpr std::size_t kMaxFrames = 32;
constexpr std::size_t kStackBytes = std::size_t{64} << 10U;

std::string first_line(const fs::path& path) {
  const std::string text = read_small_file(path.string());
  return text.substr(0, text.find('\n'));
}

std::string name_of_call(std::int64_t number) {
#if defined(__x86_64__)
  static const std::map<std::int64_t, const char*> kNames{{0, "read"},
                                                          {1, "write"},
                                                          {7, "poll"},
                                                          {23, "select"},
                                                          {34, "pause"},
                                                          {35, "nanosleep"},
                                                          {45, "recvfrom"},
                                                          {47, "recvmsg"},
                                                          {42, "connect"},
                                                          {43, "accept"},
                                                          {61, "wait4"},
                                                          {72, "fcntl"},
                                                          {73, "flock"},
                                                          {202, "futex"},
                                                          {230, "clock_nanosleep"},
                                                          {232, "epoll_wait"},
                                                          {247, "waitid"},
                                                          {270, "pselect6"},
                                                          {271, "ppoll"},
                                                          {281, "epoll_pwait"},
                                                          {288, "accept4"},
                                                          {16, "ioctl"},
                                                          {74, "fsync"},
                                                          {257, "openat"},
                                                          {24, "sched_yield"},
                                                          {128, "rt_sigtimedwait"},
                                                          {130, "rt_sigsuspend"},
                                                          {299, "recvmmsg"},
                                                          {441, "epoll_pwait2"}};
  const auto found = kNames.find(number);
  if (found != kNames.end()) return found->second;
#endif
  return fmt::format("call {}", number);
}

bool read_memory(pid_t process, std::uint64_t address, void* out, std::size_t bytes, std::size_t& done) {
  iovec local{out, bytes};
  iovec remote{reinterpret_cast<void*>(address), bytes};  // NOLINT(performance-no-int-to-ptr)
  const ssize_t count = process_vm_readv(process, &local, 1, &remote, 1, 0);
  done = count > 0 ? static_cast<std::size_t>(count) : 0;
  return count > 0;
}

// Whether a call instruction ends right before this address, so that it may be where a function returns to.
bool follows_a_call(pid_t process, std::uint64_t address) {
#if defined(__x86_64__)
  constexpr std::size_t kLongest = 7;
  std::array<std::uint8_t, kLongest> code{};
  std::size_t done = 0;
  if (!read_memory(process, address - kLongest, code.data(), kLongest, done) || done != kLongest)
    return false;
  if (code[kLongest - 5] == 0xE8) return true;  // call with a distance of 32 bits
  // call through a register or memory: FF with 2 in the middle bits of the next byte.
  for (const std::size_t length : {2U, 3U, 4U, 6U, 7U}) {
    const std::size_t at = kLongest - length;
    if (code[at] == 0xFF && (code[at + 1] >> 3U & 7U) == 2) return true;
  }
  return false;
#else
  (void)process;
  (void)address;
  return false;
#endif
}

class Walker {
 public:
  explicit Walker(pid_t process) : process_(process), symbols_(process) {}

  std::vector<std::string> frames(std::uint64_t stack, std::uint64_t instruction) {
    std::vector<std::string> found;
    found.push_back(symbols_.describe(instruction));
    std::vector<std::byte> bytes(kStackBytes);
    std::size_t done = 0;
    // The stack's top may be nearer than that: page by page until it ends.
    std::size_t total = 0;
    while (total < bytes.size()) {
      const std::size_t to_page_end = 4096 - (stack + total) % 4096;
      if (!read_memory(process_, stack + total, bytes.data() + total,
                       std::min(to_page_end, bytes.size() - total), done))
        break;
      total += done;
    }
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= total && found.size() < kMaxFrames;
         at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, sizeof word);
      if (!symbols_.is_code(word) || !follows_a_call(process_, word)) continue;
      std::string text = symbols_.describe(word - 1);
      if (text != found.back()) found.push_back(std::move(text));
    }
    return found;
  }

 private:
  pid_t process_;
  Symbols symbols_;
};

// "202 0x… … SP PC", "running", or "-1 SP PC".
void read_system_call(const fs::path& task, ThreadStack& thread, Walker& walker) {
  const std::string line = first_line(task / "syscall");
  if (line.empty()) return;
  std::istringstream words(line);
  std::vector<std::string> parts{std::istream_iterator<std::string>(words), {}};
  if (parts.size() < 3) {
    thread.system_call = line;
    return;
  }
  if (const auto number = parse_number<std::int64_t>(parts[0], 0)) thread.system_call = name_of_call(*number);
  const auto address = [](std::string_view text) {
    text.remove_prefix(std::min<std::size_t>(text.size(), 2));  // "0x"
    return take_number<std::uint64_t>(text, 16).value_or(0);
  };
  thread.frames = walker.frames(address(parts[parts.size() - 2]), address(parts.back()));
}

std::string state_of(const fs::path& task) {
  std::ifstream file(task / "status");
  std::string line;
  constexpr std::string_view kKey = "State:";
  while (std::getline(file, line)) {
    if (line.starts_with(kKey)) {
      const std::size_t begin = line.find_first_not_of(" \t", kKey.size());
      return begin == std::string::npos ? std::string() : line.substr(begin);
    }
  }
  return {};
}

}  // namespace

std::vector<ThreadStack> read_stacks(std::int64_t process) {
  std::vector<ThreadStack> threads;
  const fs::path tasks = fs::path("/proc") / std::to_string(process) / "task";
  Walker walker(static_cast<pid_t>(process));
  std::error_code error;
  for (fs::directory_iterator entry(tasks, error), end; !error && entry != end; entry.increment(error)) {
    if (threads.size() == kMaxThreads) break;
    ThreadStack thread;
    const std::string id = entry->path().filename().string();
    thread.id = parse_number<std::int64_t>(id).value_or(0);
    thread.name = first_line(entry->path() / "comm");
    thread.state = state_of(entry->path());
    thread.wait_channel = first_line(entry->path() / "wchan");
    if (thread.wait_channel == "0") thread.wait_channel.clear();
    read_system_call(entry->path(), thread, walker);
    threads.push_back(std::move(thread));
  }
  std::sort(threads.begin(), threads.end(), [&](const ThreadStack& a, const ThreadStack& b) {
    return std::pair(a.id != process, a.id) < std::pair(b.id != process, b.id);
  });
  return threads;
}

std::string why_it_stands_still(const std::vector<ThreadStack>& threads) {
  // As the kernel says it: "T (stopped)", "t (tracing stop)".
  const std::string state = threads.empty() ? std::string() : threads.front().state;
  if (state.starts_with('T')) return "stopped by a signal (SIGSTOP, Ctrl-Z)";
  if (state.starts_with('t')) return "held by a debugger";
  return {};
}

std::string summary_of(const std::vector<ThreadStack>& threads) {
  if (threads.empty()) return {};
  const ThreadStack& main = threads.front();
  std::string text = why_it_stands_still(threads);
  const char* const where = text.empty() ? "called from" : "in";
  if (text.empty()) text = !main.system_call.empty() ? main.system_call : main.state;
  if (!main.frames.empty()) {
    // What the C library waits in says less than who called it.
    const auto own = std::find_if(main.frames.begin(), main.frames.end(), [](const std::string& frame) {
      return frame.find("libc.so") == std::string::npos && frame.find("ld-linux") == std::string::npos &&
             frame.find("libpthread") == std::string::npos && frame.find("[vdso]") == std::string::npos;
    });
    if (own != main.frames.end()) text += fmt::format(", {} {}", where, *own);
  }
  return text;
}

}  // namespace lockstep::tracer::record

#include "base/standard_streams.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>

namespace lockstep {
namespace {

constexpr int kPatienceMilliseconds = 2000;
constexpr int kMaxInterruptions = 100;

std::atomic<bool> nobody_reads{false};  // as of the last wait: there is no second one until somebody does

// While it lives, a write to a pipe without a reader fails and does nothing else, and one to a terminal that
// another process group has (`stty tostop`) succeeds, where it would stop this process group.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t pending;
    sigemptyset(&pending);
    sigemptyset(&broken_pipe_);
    sigaddset(&broken_pipe_, SIGPIPE);
    sigset_t both = broken_pipe_;
    sigaddset(&both, SIGTTOU);
    was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
    blocked_ = pthread_sigmask(SIG_BLOCK, &both, &before_) == 0;
  }
  ~WithoutSignals() {
    if (!blocked_) return;
    const timespec at_once{};
    // Ours, and only ours.
    if (!was_pending_) sigtimedwait(&broken_pipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t broken_pipe_{}, before_{};
  bool was_pending_ = false, blocked_ = false;
};

// A terminal that is said to be ready may have room for a byte, and lets whoever writes more wait. Opened
// anew: others that have ours open must not find it without waiting. Negative: it is no terminal, or can't be
// had.
int open_terminal() noexcept {
  if (isatty(STDERR_FILENO) != 1) return -1;
  return open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

}  // namespace

void write_to_stderr(std::string_view text) noexcept {
  const int saved = errno;
  {
    const WithoutSignals quiet;
    const int terminal = open_terminal();
    const int file = terminal >= 0 ? terminal : STDERR_FILENO;
    int interruptions = 0;
    while (!text.empty() && interruptions < kMaxInterruptions) {
      pollfd stream{file, POLLOUT, 0};
      const int ready = poll(&stream, 1, nobody_reads ? 0 : kPatienceMilliseconds);
      if (ready == 0) {
        nobody_reads = true;
        break;
      }
      if (ready < 0 && errno == EINTR) {
        ++interruptions;
        continue;
      }
      // So much fits into a pipe that is ready, without waiting.
      const ssize_t written = write(file, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
      if (written < 0 && (errno == EINTR || (errno == EAGAIN && terminal >= 0))) {
        ++interruptions;
        continue;
      }
      if (written <= 0) break;
      text.remove_prefix(static_cast<std::size_t>(written));
      nobody_reads = false;
    }
    if (terminal >= 0) close(terminal);
  }
  errno = saved;
}

void tell(std::string_view text) noexcept {
  constexpr std::size_t kRoom = 4096, kLongest = 8;
  constexpr char kDigits[] = "0123456789abcdef";
  std::array<char, kRoom> line;
  std::size_t size = 0;
  const auto put_byte = [&](unsigned char byte) {
    for (const char c : {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 15U]}) line[size++] = c;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (size + kLongest > kRoom) {
      write_to_stderr({line.data(), size});
      size = 0;
    }
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) {
      put_byte(byte);
    } else if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {  // C1 in UTF-8: 0x9B is "escape [" in one
      put_byte(byte);
      put_byte(next);
      ++i;
    } else {
      line[size++] = text[i];
    }
  }
  write_to_stderr({line.data(), size});
}

void hold_closed_streams() noexcept {
  const int saved = errno;
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is this one. Opened the wrong way round, so that it can't be used.
    const int file = open("/dev/null", (stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
    if (file >= 0 && file != stream) close(file);
  }
  errno = saved;
}

namespace {
bool ignored_file_size_signal = false;  // before any thread
}  // namespace

void fail_at_file_size_limit() noexcept {
  struct sigaction before {};
  if (sigaction(SIGXFSZ, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) return;
  ignored_file_size_signal = signal(SIGXFSZ, SIG_IGN) != SIG_ERR;
}

bool is_file_size_signal_ignored_by_us() noexcept {
  return ignored_file_size_signal;
}

}  // namespace lockstep

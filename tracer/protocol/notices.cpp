#include "tracer/protocol/notices.h"

#include <errno.h>
#include <linux/close_range.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/numbers.h"

namespace lockstep::tracer::notices {
namespace {

// A datagram's lines: one of these, the rank, the reason or the process, the program.
constexpr std::string_view kUnrecorded = "lockstep notice 1";
constexpr std::string_view kBeginning = "lockstep beginning 1";
constexpr std::size_t kLongestReason = 500;
// The job's own thread waits, so no longer than others that it says. All ranks of a host may begin at once,
// and the socket holds ten datagrams (net.unix.max_dgram_qlen) until the recorder's thread has had its turn.
constexpr int kBeginningMilliseconds = 5;

class Text {
 public:
  void add(std::string_view more) noexcept {
    const std::size_t count = std::min(more.size(), bytes_.size() - size_);
    memcpy(bytes_.data() + size_, more.data(), count);
    size_ += count;
  }
  void add(std::int32_t number) noexcept {
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    add(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
  }
  void add_program() noexcept {
    const long count = syscall(SYS_readlink, "/proc/self/exe", bytes_.data() + size_, bytes_.size() - size_);
    if (count > 0) size_ += static_cast<std::size_t>(count);
  }
  const char* data() const noexcept { return bytes_.data(); }
  std::size_t size() const noexcept { return size_; }

 private:
  std::array<char, kMaxBytes> bytes_{};
  std::size_t size_ = 0;
};

// Whether this thread may leave the program's table of descriptors.
enum class Table : std::uint8_t { keep, leave };

// Of the program's own descriptors none is closed: others have the table that the thread leaves. Nor does it
// give up a lock of fcntl(), which belongs to that table.
bool leave_table() noexcept {
  return syscall(SYS_close_range, 0U, ~0U, CLOSE_RANGE_UNSHARE) == 0;
}

long open_socket(Table table) noexcept {
  const auto open = [] { return syscall(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0); };
  const long socket = open();
  if (socket >= 0 || errno != EMFILE || table == Table::keep || !leave_table()) return socket;
  return open();
}

void send_text(const Text& text, const char* name, int patience_ms, Table table) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t length = strlen(name);
  if (length == 0 || length + 1 > sizeof address.sun_path) return;
  memcpy(address.sun_path + 1, name, length);
  const long socket = open_socket(table);
  if (socket < 0) return;
  for (int waited = 0;; ++waited) {
    const long sent = syscall(SYS_sendto, socket, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                              &address, offsetof(sockaddr_un, sun_path) + 1 + length);
    if (sent >= 0 || (errno != EAGAIN && errno != EINTR) || waited >= patience_ms) break;
    constexpr timespec kMillisecond{0, 1'000'000};
    syscall(SYS_nanosleep, &kMillisecond, nullptr);
  }
  syscall(SYS_close, socket);
}

template <class What>
void send_lines(std::string_view kind, std::int32_t rank, What what, int patience_ms,
                Table table = Table::keep) noexcept {
  const char* const name = getenv(kVariable);
  if (name == nullptr) return;
  const int saved = errno;
  Text text;
  text.add(kind);
  text.add("\n");
  text.add(rank);
  text.add("\n");
  text.add(what);
  text.add("\n");
  text.add_program();
  send_text(text, name, patience_ms, table);
  errno = saved;
}

}  // namespace

void send(const char* reason, std::int32_t rank, int patience_ms) noexcept {
  send_lines(kUnrecorded, rank, std::string_view(reason, strnlen(reason, kLongestReason)), patience_ms);
}

void send_and_leave_descriptors(const char* reason, std::int32_t rank, int patience_ms) noexcept {
  send_lines(kUnrecorded, rank, std::string_view(reason, strnlen(reason, kLongestReason)), patience_ms,
             Table::leave);
}

void send_beginning(std::int32_t process, std::int32_t rank) noexcept {
  send_lines(kBeginning, rank, process, kBeginningMilliseconds);
}

std::optional<Notice> parse(std::string_view datagram) {
  std::array<std::string_view, 3> lines;
  for (std::string_view& line : lines) {
    const std::size_t end = datagram.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    line = datagram.substr(0, end);
    datagram.remove_prefix(end + 1);
  }
  const std::optional<std::int32_t> rank = parse_number<std::int32_t>(lines[1], -1);
  if (!rank.has_value() || lines[2].empty()) return std::nullopt;
  Notice notice;
  notice.rank = *rank;
  if (lines[0] == kBeginning) {
    const std::optional<std::int32_t> process = parse_number<std::int32_t>(lines[2], 1);
    if (!process.has_value()) return std::nullopt;
    notice.process = *process;
  } else if (lines[0] == kUnrecorded) {
    notice.reason = lines[2];
  } else {
    return std::nullopt;
  }
  notice.program = datagram;
  return notice;
}

}  // namespace lockstep::tracer::notices

#include "tracer/recorder/unrecorded.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/counts.h"
#include "tracer/protocol/notices.h"
#include "tracer/recorder/job_programs.h"
#include "tracer/recorder/process_state.h"
#include "tracer/recorder/progress.h"

namespace lockstep::tracer::record {
namespace {

// Anybody on this host may send: what comes is bounded.
constexpr std::size_t kMaxReasons = 64;
constexpr std::size_t kMaxExamples = 8;
constexpr std::size_t kMaxBeginnings = 1'000'000;
constexpr int kMaxAtOnce = 100'000;  // datagrams, so that whoever sends without end can't keep the recorder

// How long it may take to see that it is to stop where nothing can wake it.
constexpr int kLookMilliseconds = 500;

constexpr const char* kOtherReasons = "other reasons";
constexpr const char* kGoneAtOnce = "ended by _exit, exec or a signal within a moment of the first event";
// Which of the two can't be told: a rank's helper has the rank as well, and a file of its own.
constexpr const char* kDeleted = "its file was deleted while the job ran, or it ended before it had one";

// How often programs are looked at from outside; less often where that takes long, so that it costs at most
// half a percent of a core.
constexpr std::chrono::seconds kBetweenLooks{2};
constexpr int kLongerThanALook = 200;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

std::string random_name() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) fail("getrandom");
  return fmt::format("lockstep-{:02x}", fmt::join(bytes, ""));
}

template <class Value>
void add_example(std::set<Value>& examples, Value value) {
  if (examples.size() < kMaxExamples) examples.insert(std::move(value));
}

}  // namespace

struct NoticeBoard::State {
  ~State() {
    for (const int file : {socket, wake})
      if (file >= 0) close(file);
  }

  void open() {
    name = random_name();
    socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket < 0) fail("socket");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    if (bind(socket, reinterpret_cast<const sockaddr*>(&address), length) != 0) fail("bind");
    // The kernel says who sent a datagram.
    const int on = 1;
    if (setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) fail("setsockopt");
    wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake < 0) fail("eventfd");
  }

  // Until it is to stop; what was sent before that is read.
  void listen() {
    for (bool last = false; !last;) {
      std::array<pollfd, 2> either{{{socket, POLLIN, 0}, {wake, POLLIN, 0}}};
      if (poll(either.data(), either.size(), kLookMilliseconds) < 0 && errno != EINTR) fail("poll");
      last = stops;
      for (int count = 0; count < kMaxAtOnce && read_one();) ++count;
      if (!last) look_from_outside();
    }
  }

  void look_from_outside() noexcept {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    if (begin < next_look) return;
    try {
      programs.look();
    } catch (...) {  // out of memory: those that were seen are known
    }
    const Clock::time_point end = Clock::now();
    next_look = end + std::max<Clock::duration>(kBetweenLooks, kLongerThanALook * (end - begin));
  }

  // False: there is none.
  bool read_one() {
    std::array<char, notices::kMaxBytes> bytes{};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
    iovec piece{bytes.data(), bytes.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t count = recvmsg(socket, &message, MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) return true;
    if (count < 0 && errno == EAGAIN) return false;
    if (count < 0) fail("recvmsg");
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_type != SCM_CREDENTIALS) return true;
    ucred sender{};
    std::memcpy(&sender, CMSG_DATA(header), sizeof sender);
    const auto notice = notices::parse({bytes.data(), static_cast<std::size_t>(count)});
    if (notice.has_value()) note(*notice, sender);
    return true;
  }

  void note_trouble(const char* why) noexcept {
    try {
      trouble = why;
    } catch (...) {  // out of memory, which the rest of the recorder says
    }
  }

  void stop() {
    if (!thread.joinable()) return;
    stops = true;
    const std::uint64_t one = 1;
    const ssize_t ignored = write(wake, &one, sizeof one);
    (void)ignored;
    thread.join();
  }

  void note(const notices::Notice& notice, const ucred& sender) {
    if (heard.size() < kMaxBeginnings) heard.insert(sender.pid);
    if (notice.reason.empty()) {
      if (beginnings.size() < kMaxBeginnings) beginnings.emplace(sender.pid, Beginning{notice, sender});
      return;
    }
    // What it says itself counts, and once.
    if (const auto begun = beginnings.find(sender.pid); begun != beginnings.end()) beginnings.erase(begun);
    count(notice, sender);
  }

  // A process that is still there may be about to make its file.
  void count_those_gone(const WhereItsFileIs& where) {
    for (auto& [process, begun] : beginnings) {
      // 0: of a namespace that the recorder does not see into.
      if (process == 0 || lives(process)) continue;
      const FileOf file = where(begun.notice.process, begun.notice.rank);
      if (file == FileOf::there) continue;
      begun.notice.reason = file == FileOf::missing ? kGoneAtOnce : kDeleted;
      count(begun.notice, begun.sender);
    }
    beginnings.clear();
  }

  // Those that said nothing and left no file.
  void count_those_seen(const WhereItsFileIs& where) {
    for (const JobPrograms::Process& seen : programs.found()) {
      if (heard.contains(seen.process) || where(seen.process, -1) != FileOf::missing) continue;
      Unrecorded& of = seen_by_reason[seen.reason];
      of.reason = seen.reason;
      of.only_seen = true;
      ++of.processes;
      if (!seen.program.empty()) add_example(of.programs, seen.program);
      add_example(of.users, seen.user);
      add_example(of.process_ids, static_cast<std::int32_t>(seen.process));
    }
  }

  void count(const notices::Notice& notice, const ucred& sender) {
    const bool known = by_reason.contains(notice.reason) || by_reason.size() < kMaxReasons;
    const std::string reason = known ? notice.reason : kOtherReasons;
    Unrecorded& of = by_reason[reason];
    of.reason = reason;
    ++of.processes;
    if (!notice.program.empty()) add_example(of.programs, notice.program);
    if (notice.rank >= 0) add_example(of.ranks, notice.rank);
    add_example(of.users, static_cast<std::uint32_t>(sender.uid));
    add_example(of.process_ids, static_cast<std::int32_t>(sender.pid));
  }

  std::string name;
  int socket = -1;
  int wake = -1;
  std::atomic<bool> stops{false};
  struct Beginning {
    notices::Notice notice;
    ucred sender;
  };
  std::unordered_multimap<pid_t, Beginning> beginnings;  // by the sender's id, as the recorder knows it
  std::map<std::string, Unrecorded> by_reason;
  std::map<std::string, Unrecorded> seen_by_reason;
  std::unordered_set<pid_t> heard;
  JobPrograms programs{getpid()};
  std::chrono::steady_clock::time_point next_look{};
  std::string trouble;  // why it listened no longer; after the thread's end
  std::thread thread;
};

NoticeBoard::NoticeBoard() : state_(std::make_unique<State>()) {
  state_->open();
  // Signals are for the thread that waits for the command.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    state_->thread = std::thread([state = state_.get()] {
      try {
        state->listen();
      } catch (const std::exception& error) {  // those so far are known
        state->note_trouble(error.what());
      }
    });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

NoticeBoard::~NoticeBoard() {
  state_->stop();
}

const std::string& NoticeBoard::name() const {
  return state_->name;
}

std::vector<Unrecorded> NoticeBoard::take(const WhereItsFileIs& where) {
  state_->stop();
  state_->count_those_gone(where);
  state_->count_those_seen(where);
  std::vector<Unrecorded> all;
  for (auto* const reasons : {&state_->by_reason, &state_->seen_by_reason})
    for (auto& [reason, unrecorded] : std::exchange(*reasons, {})) all.push_back(std::move(unrecorded));
  std::stable_sort(all.begin(), all.end(),
                   [](const Unrecorded& a, const Unrecorded& b) { return a.processes > b.processes; });
  return all;
}

const std::string& NoticeBoard::trouble() const {
  return state_->trouble;
}

std::vector<std::string> in_words(const std::vector<Unrecorded>& unrecorded) {
  std::vector<std::string> lines;
  for (const Unrecorded& of : unrecorded) {
    std::vector<std::string> programs;
    for (const std::string& program : of.programs)
      programs.push_back(std::filesystem::path(program).filename().string());
    std::string who = programs.empty() ? "" : fmt::format("{}; ", fmt::join(programs, ", "));
    if (!of.ranks.empty())
      who += fmt::format("{} {}; ", of.ranks.size() == 1 ? "rank" : "ranks", fmt::join(of.ranks, ", "));
    if (of.users != std::set<std::uint32_t>{getuid()})
      who += fmt::format("{} {}; ", of.users.size() == 1 ? "user" : "users", fmt::join(of.users, ", "));
    who += fmt::format("{} {}{}", of.process_ids.size() == 1 ? "process" : "processes",
                       fmt::join(of.process_ids, ", "), of.processes > of.process_ids.size() ? ", …" : "");
    const std::string count = format_plural(of.processes, "process", "processes");
    const bool left_alone = of.only_seen && of.reason != kOtherNetwork;
    const char* const what = !left_alone         ? "left no file"
                             : of.processes == 1 ? "was left alone"
                                                 : "were left alone";
    lines.push_back(fmt::format("{} {}: {} ({})", count, what, of.reason, who));
  }
  return lines;
}

}  // namespace lockstep::tracer::record

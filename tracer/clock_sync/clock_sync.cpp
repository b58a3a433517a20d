#include "tracer/clock_sync/clock_sync.h"

#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>
#include <utility>

#include "base/small_file.h"
#include "tracer/protocol/clock.h"
#include "tracer/protocol/environment.h"

namespace lockstep::tracer::clock_sync {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr int kQuestionsARound = 8;
constexpr std::int64_t kAnswerWithin = 50 * kMillisecond;
constexpr std::int64_t kBetweenFirstTries = 200 * kMillisecond;
constexpr std::int64_t kBetweenWrites = 10'000 * kMillisecond;
// Beyond this every second exchange is given up: a day's worth at two seconds each is 43,200.
constexpr std::size_t kMaxExchanges = 16'384;

class Socket {
 public:
  explicit Socket(int descriptor = -1) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

std::int64_t now() {
  return static_cast<std::int64_t>(read_monotonic());
}

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses look_up(const SyncAddress& address) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* list = nullptr;
  const std::string port = std::to_string(address.port);
  if (getaddrinfo(address.host.c_str(), port.c_str(), &hints, &list) != 0) list = nullptr;
  return {list, &freeaddrinfo};
}

// A socket bound (or connected) to the first of the addresses that takes it.
template <class Attach>
Socket attached(const addrinfo* addresses, const Attach& attach) {
  for (const addrinfo* at = addresses; at != nullptr; at = at->ai_next) {
    Socket socket(::socket(at->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (socket && attach(socket.get(), at->ai_addr, at->ai_addrlen) == 0) return socket;
  }
  return Socket();
}

}  // namespace

std::string clock_file_name(std::string_view host, std::int64_t process) {
  return "clock-" + host_for_file_name(host) + "-" + std::to_string(process) + ".json";
}

bool is_clock_file_name(std::string_view name) {
  constexpr std::string_view kPrefix = "clock-", kSuffix = ".json";
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix) ||
      name.size() <= kPrefix.size() + kSuffix.size())
    return false;
  name.remove_suffix(kSuffix.size());
  const std::size_t dash = name.rfind('-');
  return dash > kPrefix.size() && dash + 1 < name.size() &&
         name.find_first_not_of("0123456789", dash + 1) == std::string_view::npos;
}

std::string to_json(const ClockLog& log) {
  nlohmann::ordered_json document;
  document["format"] = "lockstep.clock/1";
  document["clock"] = log.clock;
  document["peer"] = log.peer;
  document["fields"] = {"asked", "heard", "answered", "received"};
  nlohmann::ordered_json& exchanges = document["exchanges"] = nlohmann::ordered_json::array();
  for (const Exchange& exchange : log.exchanges)
    exchanges.push_back({exchange.asked, exchange.heard, exchange.answered, exchange.received});
  return document.dump() + "\n";
}

// What the thread does; it may outlive the ClockSync.
class ClockSync::Work {
 public:
  explicit Work(Options options) : options_(std::move(options)), stop_event_(eventfd(0, EFD_CLOEXEC)) {
    if (options_.clock.empty()) options_.clock = clock_identity();
  }
  ~Work() {
    if (stop_event_ >= 0) ::close(stop_event_);
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  void run();
  void stop();
  Status written() const;  // the last time

  std::atomic<Role> role{Role::starting};
  std::atomic<std::uint64_t> answered{0}, exchanges{0};

 private:
  void answer(int socket);
  void ask(int socket);
  bool ask_round(int socket, ClockLog& log);
  void write(const ClockLog& log);
  bool wait(int socket, std::int64_t nanoseconds) const;

  Options options_;
  int stop_event_;
  std::atomic<bool> stopping_{false};
  std::uint64_t sequence_ = 0;
  mutable std::mutex mutex_;
  Status written_;  // guarded by mutex_
};

ClockSync::ClockSync(Options options) : work_(std::make_shared<Work>(std::move(options))) {
  std::promise<void> done;
  done_ = done.get_future();
  try {
    std::thread([work = work_, done = std::move(done)]() mutable {
      try {
        work->run();
      } catch (...) {
        work->role = Role::failed;  // out of memory: the clocks stay uncompared, as where nobody answers
      }
      done.set_value();
    }).detach();
  } catch (const std::system_error&) {
    work_->role = Role::failed;  // no more threads: the broken promise says that nothing runs
  }
}

ClockSync::~ClockSync() {
  (void)end();
}

Status ClockSync::end() {
  if (!std::exchange(ended_, true)) {
    work_->stop();
    done_.wait_for(std::chrono::seconds(1));
  }
  return work_->written();
}

Role ClockSync::role() const {
  return work_->role;
}
std::uint64_t ClockSync::answered() const {
  return work_->answered;
}
std::uint64_t ClockSync::exchanges() const {
  return work_->exchanges;
}

void ClockSync::Work::stop() {
  stopping_ = true;
  const std::uint64_t one = 1;
  if (stop_event_ >= 0 && ::write(stop_event_, &one, sizeof(one)) < 0) {
    // The thread looks at stopping_ between any two waits.
  }
}

void ClockSync::Work::run() {
  // Names may not be known yet when a job's first pod starts: asked again until one is.
  while (!stopping_) {
    const Addresses addresses = look_up(options_.address);
    if (addresses) {
      const Socket mine = options_.only_ask ? Socket() : attached(addresses.get(), ::bind);
      if (mine) return answer(mine.get());
      const Socket theirs = attached(addresses.get(), ::connect);
      if (theirs) return ask(theirs.get());
    }
    wait(-1, options_.interval_ns);
  }
  role = Role::failed;
}

// False when it is time to stop, or nothing came in time.
bool ClockSync::Work::wait(int socket, std::int64_t nanoseconds) const {
  pollfd events[] = {{stop_event_, POLLIN, 0}, {socket, POLLIN, 0}};
  const timespec timeout{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  const int ready = ::ppoll(events, socket < 0 ? 1 : 2, &timeout, nullptr);
  return ready > 0 && socket >= 0 && (events[1].revents & POLLIN) != 0;
}

void ClockSync::Work::answer(int socket) {
  role = Role::answers;
  while (!stopping_) {
    if (!wait(socket, options_.interval_ns)) continue;
    PacketBytes bytes{};
    sockaddr_storage from{};
    socklen_t length = sizeof(from);
    const ssize_t size = ::recvfrom(socket, bytes.data(), bytes.size(), MSG_TRUNC,
                                    reinterpret_cast<sockaddr*>(&from), &length);
    const std::int64_t heard = now();
    if (size != static_cast<ssize_t>(kPacketSize)) continue;
    std::optional<Packet> packet = decode(bytes);
    if (!packet || packet->answer || packet->token != options_.token) continue;
    packet->answer = true;
    packet->heard = heard;
    packet->clock = options_.clock;
    packet->answered = now();
    const PacketBytes reply = encode(*packet);
    if (::sendto(socket, reply.data(), reply.size(), 0, reinterpret_cast<sockaddr*>(&from), length) ==
        static_cast<ssize_t>(kPacketSize))
      ++answered;
  }
}

void ClockSync::Work::ask(int socket) {
  role = Role::asks;
  ClockLog log;
  log.clock = options_.clock;
  std::int64_t written = now();
  bool stopping = false;
  while (true) {
    const bool heard = ask_round(socket, log);
    if (log.exchanges.size() > kMaxExchanges) {
      std::size_t kept = 0;
      for (std::size_t i = 0; i < log.exchanges.size(); i += 2) log.exchanges[kept++] = log.exchanges[i];
      log.exchanges.resize(kept);
    }
    if (stopping) break;
    if (heard && (exchanges == 1 || now() - written > kBetweenWrites)) {
      write(log);
      written = now();
    }
    const bool first_tries = log.exchanges.empty();
    if (!stopping_)
      wait(-1, first_tries ? std::min(kBetweenFirstTries, options_.interval_ns) : options_.interval_ns);
    stopping = stopping_;
  }
  write(log);
}

// Asks a few times and keeps the shortest exchange. False: nobody answered.
bool ClockSync::Work::ask_round(int socket, ClockLog& log) {
  std::optional<Exchange> best;
  for (int question = 0; question < kQuestionsARound; ++question) {
    Packet packet;
    packet.token = options_.token;
    packet.sequence = ++sequence_;
    packet.clock = log.clock;
    packet.asked = now();
    const PacketBytes bytes = encode(packet);
    if (::send(socket, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(kPacketSize)) return false;
    const std::int64_t until = now() + kAnswerWithin;
    bool answered = false;
    for (std::int64_t left = kAnswerWithin; left > 0 && !answered; left = until - now()) {
      pollfd event{socket, POLLIN, 0};
      const timespec timeout{0, left};
      if (::ppoll(&event, 1, &timeout, nullptr) <= 0) break;
      PacketBytes reply{};
      const ssize_t size = ::recv(socket, reply.data(), reply.size(), MSG_TRUNC);
      const std::int64_t received = now();
      if (size < 0 && errno != EAGAIN && errno != EINTR)
        return best.has_value();  // nobody listens there (yet)
      if (size != static_cast<ssize_t>(kPacketSize)) continue;
      const std::optional<Packet> heard = decode(reply);
      // A late answer to an earlier question is none to this one.
      if (!heard || !heard->answer || heard->token != options_.token || heard->sequence != packet.sequence)
        continue;
      answered = true;
      log.peer = heard->clock;
      const Exchange exchange{packet.asked, heard->heard, heard->answered, received};
      if (!best || received - packet.asked < best->received - best->asked) best = exchange;
    }
    if (!answered && !best) return false;
  }
  if (!best) return false;
  log.exchanges.push_back(*best);
  ++exchanges;
  return true;
}

// Another recorder of this host asked itself: nothing to tell.
void ClockSync::Work::write(const ClockLog& log) {
  if (log.exchanges.empty() || log.peer == log.clock) return;
  const fs::path path = options_.run / clock_file_name(host_name(), ::getpid());
  const Status status = replace_small_file(path.string(), to_json(log));
  const std::lock_guard lock(mutex_);
  written_ = status;
}

Status ClockSync::Work::written() const {
  const std::lock_guard lock(mutex_);
  return written_;
}

}  // namespace lockstep::tracer::clock_sync

#include "tracer/recorder/attach.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/counts.h"
#include "base/numbers.h"
#include "base/printable.h"
#include "base/small_file.h"
#include "base/standard_streams.h"
#include "tracer/protocol/environment.h"
#include "tracer/recorder/progress.h"

namespace lockstep::tracer::record {

namespace fs = std::filesystem;

namespace {

constexpr int kAttachMilliseconds = 5000;
constexpr std::size_t kLongestAnswer = 16384;

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

struct Conversation {
  Answer answer;
  fs::path note;
  std::string socket;
  Descriptor descriptor;
  std::string text;
  bool done = false;
};

std::map<std::string, std::string> parse_fields(std::string_view text, char separator) {
  std::map<std::string, std::string> fields;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    const std::string_view field = text.substr(0, end);
    const std::size_t equals = field.find('=');
    if (equals != std::string_view::npos)
      fields[std::string(field.substr(0, equals))] = field.substr(equals + 1);
    if (end == std::string_view::npos) break;
    text = text.substr(end + 1);
  }
  return fields;
}

bool is_gone(std::int64_t process) {
  return process <= 0 || (kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH);
}

void remove_leftovers(const Conversation& conversation) {
  std::error_code ignored;
  fs::remove(conversation.note, ignored);
  const fs::path socket = conversation.socket;
  if (fs::is_socket(fs::symlink_status(socket, ignored))) fs::remove(socket, ignored);
  // A private folder of its own, where the run's path was too long.
  if (socket.parent_path().filename().string().starts_with("lockstep-"))
    fs::remove(socket.parent_path(), ignored);
}

// Connects without waiting. An empty text, or what is wrong.
std::string connect_to(Conversation& conversation, std::string_view request) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (conversation.socket.size() >= sizeof address.sun_path) return "its socket's path is too long";
  std::memcpy(address.sun_path, conversation.socket.c_str(), conversation.socket.size() + 1);
  conversation.descriptor = Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int number = conversation.descriptor.number();
  if (number < 0) return strerror(errno);
  if (connect(number, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EAGAIN) return "too many others are asking";
    conversation.answer.has_closed = errno == ECONNREFUSED || errno == ENOENT;
    return conversation.answer.has_closed ? "it has closed its socket" : strerror(errno);
  }
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(number, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid())
    return "its socket belongs to another user";
  const std::string line = std::string(request) + "\n";
  if (send(number, line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size()))
    return strerror(errno);
  return {};
}

std::vector<Conversation> find_processes(const fs::path& run) {
  std::vector<Conversation> found;
  const std::string here = host_name();
  std::error_code error;
  for (fs::directory_iterator entry(run / "control", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (!is_trace_file_name(name + ".lst") || !entry->is_regular_file(ignored)) continue;
    const std::string text = read_small_file(entry->path().string(), kWholeFile);
    const std::map<std::string, std::string> fields = parse_fields(text, '\n');
    const auto value = [&](const char* key) {
      const auto position = fields.find(key);
      return position == fields.end() ? std::string() : position->second;
    };
    Conversation& one = found.emplace_back();
    one.note = entry->path();
    one.answer.name = name;
    one.answer.host = value("host");
    one.answer.process = parse_number<std::int64_t>(value("process")).value_or(0);
    one.socket = value("socket");
    one.answer.elsewhere = one.answer.host != here;
  }
  return found;
}

void listen_to(Conversation& conversation) {
  std::array<char, 4096> buffer{};
  const ssize_t count = recv(conversation.descriptor.number(), buffer.data(), buffer.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count > 0) conversation.text.append(buffer.data(), static_cast<std::size_t>(count));
  const std::size_t end = conversation.text.find('\n');
  conversation.done = count <= 0 || end != std::string::npos || conversation.text.size() > kLongestAnswer;
  if (!conversation.done) return;
  if (end == std::string::npos) {
    conversation.answer.problem = "it ended before it answered";
    return;
  }
  conversation.answer.fields = parse_fields(std::string_view(conversation.text).substr(0, end), '\t');
  const auto problem = conversation.answer.fields.find("error");
  if (problem != conversation.answer.fields.end()) conversation.answer.problem = problem->second;
}

void wait_for_answers(std::vector<Conversation>& conversations, int milliseconds) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(milliseconds);
  while (true) {
    std::vector<pollfd> waiting;
    std::vector<Conversation*> whose;
    for (Conversation& one : conversations) {
      if (one.done) continue;
      waiting.push_back(pollfd{one.descriptor.number(), POLLIN, 0});
      whose.push_back(&one);
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (waiting.empty() || left <= 0) break;
    if (poll(waiting.data(), waiting.size(), static_cast<int>(left)) < 0 && errno != EINTR) break;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].revents != 0) listen_to(*whose[i]);
    }
  }
  for (Conversation& one : conversations) {
    if (!one.done) one.answer.problem = "no answer: it is stopped, or waits for its disk";
  }
}

}  // namespace

std::optional<std::int64_t> Answer::number(const std::string& key) const {
  const auto found = fields.find(key);
  return found == fields.end() ? std::nullopt : parse_number<std::int64_t>(found->second);
}

std::vector<Answer> ask_all(const fs::path& run, std::string_view request, int milliseconds) {
  std::vector<Conversation> conversations = find_processes(run);
  std::erase_if(conversations, [&](Conversation& one) {
    if (one.answer.elsewhere) {
      one.done = true;
      return false;
    }
    one.answer.problem = connect_to(one, request);
    if (one.answer.problem.empty()) return false;
    one.done = true;
    if (!is_gone(one.answer.process)) return false;
    remove_leftovers(one);
    return true;
  });
  wait_for_answers(conversations, milliseconds);
  std::vector<Answer> answers;
  answers.reserve(conversations.size());
  for (Conversation& one : conversations) answers.push_back(std::move(one.answer));
  const auto key = [](const Answer& answer) {
    return std::tuple(answer.number("rank").value_or(INT32_MAX), answer.name);
  };
  std::sort(answers.begin(), answers.end(),
            [&](const Answer& a, const Answer& b) { return key(a) < key(b); });
  return answers;
}

namespace {

// What a process made of "snapshot".
std::string written_in_words(const Answer& answer) {
  const std::int64_t bytes = answer.number("written").value_or(0);
  if (bytes <= 0) return "nothing was held";
  return "written: " + readable_bytes(static_cast<std::uint64_t>(bytes));
}

// "yes", "no: outside --steps 100:110", "yes, silent for 12.3 s".
std::string recording_in_words(const Answer& answer) {
  constexpr std::int64_t kWorthSaying = 5'000'000'000;
  const auto field = [&](const char* key) {
    const auto found = answer.fields.find(key);
    return found == answer.fields.end() ? std::string() : found->second;
  };
  std::string text = field("recording");
  if (const std::string why = field("why"); !why.empty()) text += ": " + why;
  // Before its first step or collective a process imports and compiles.
  const std::int64_t silent = answer.number("silent_ns").value_or(0);
  if (answer.number("progress").value_or(0) > 0 && silent > kWorthSaying)
    text += ", silent for " + readable_duration(silent);
  return text;
}

}  // namespace

std::string table_of(const std::vector<Answer>& answers, std::string_view request) {
  const bool snapshot = request == "snapshot";
  std::string text = fmt::format("{:<12} {:>8}  {:>10} {:>14} {:>10} {:>10}  {}\n", "process", "id", "step",
                                 "events", "file", "held", snapshot ? "snapshot" : "recording");
  for (const Answer& answer : answers) {
    const auto shown = [&](const char* key, auto words) {
      const std::optional<std::int64_t> value = answer.number(key);
      return value.has_value() ? words(*value) : std::string("–");
    };
    const auto count = [](std::int64_t value) { return format_count(value); };
    const auto bytes = [](std::int64_t value) { return readable_bytes(static_cast<std::uint64_t>(value)); };
    const std::string state = answer.elsewhere          ? "on " + answer.host + ": ask there"
                              : !answer.problem.empty() ? answer.problem
                              : snapshot                ? written_in_words(answer)
                                                        : recording_in_words(answer);
    text +=
        fmt::format("{:<12} {:>8}  {:>10} {:>14} {:>10} {:>10}  {}\n", printable(answer.name), answer.process,
                    shown("step", [](std::int64_t value) { return std::to_string(value); }),
                    shown("events", count), shown("bytes", bytes), shown("held", bytes), printable(state));
  }
  return text;
}

int attach(const fs::path& run, std::string_view request) {
  std::error_code error;
  if (!fs::is_directory(run, error)) {
    tell(fmt::format("lockstep record: --attach {}: there is no such run folder\n", run.string()));
    return 1;
  }
  const std::vector<Answer> answers = ask_all(run, request, kAttachMilliseconds);
  if (answers.empty()) {
    tell(fmt::format(
        "lockstep record: --attach {}: no process of this run is being recorded on this host: the job "
        "has ended, has not made an event yet, or runs elsewhere\n",
        run.string()));
    return 1;
  }
  if (std::fputs(table_of(answers, request).c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
    tell("lockstep record: --attach: cannot write to stdout\n");
    return 1;
  }
  const bool all_well = std::none_of(answers.begin(), answers.end(),
                                     [](const Answer& answer) { return !answer.problem.empty(); });
  return all_well ? 0 : 1;
}

void remove_control_folder(const fs::path& run) {
  for (Conversation& one : find_processes(run)) {
    if (!one.answer.elsewhere && is_gone(one.answer.process)) remove_leftovers(one);
  }
  std::error_code ignored;
  fs::remove(run / "control", ignored);  // only if it is empty
}

}  // namespace lockstep::tracer::record

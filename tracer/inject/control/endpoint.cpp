#include "tracer/inject/control/endpoint.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

namespace lockstep::tracer::control {

namespace {

constexpr int kBacklog = 8;
constexpr std::size_t kMaxClients = 8;
constexpr std::size_t kLongestLine = 256;
constexpr int kMaxTurns = 25;  // a client that says nothing for some seconds is sent away
constexpr const char* kFolder = "control";

// Of the endpoint of this process, for its forked children.
std::atomic<int> listening{-1};
std::atomic<std::uint64_t> listening_inode{0};

// Not blocking: a named pipe may have the name.
bool write_whole(const std::string& path, const std::string& text) {
  const int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (file < 0) return false;
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(file);
  return written;
}

bool is_same_user(int descriptor) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

}  // namespace

Request parse_request(std::string_view line) {
  if (line == "status") return Request::status;
  if (line == "start") return Request::start;
  if (line == "stop") return Request::stop;
  if (line == "snapshot") return Request::snapshot;
  if (line == "hang") return Request::hang;
  return Request::unknown;
}

bool Endpoint::listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  OwnDescriptor descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (descriptor.number() < 0) return false;
  // The mode that the file will have: setting the umask for a moment would be seen by the job's threads.
  if (fchmod(descriptor.number(), 0600) != 0) return false;
  unlink(path.c_str());  // of a run before, in a folder that is ours
  if (bind(descriptor.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return false;
  socket_path_ = path;
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || (status.st_mode & 0777) != 0600 ||
      listen(descriptor.number(), kBacklog) != 0) {
    unlink(path.c_str());
    socket_path_.clear();
    return false;
  }
  listener_ = std::move(descriptor);
  return true;
}

bool Endpoint::open(const std::string& run_folder, const std::string& name, const std::string& host) {
  const std::string folder = run_folder + "/" + kFolder;
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return false;
  bool listening_now = listen_at(folder + "/" + name + ".sock");
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  for (const char* parent : {runtime, "/tmp"}) {
    if (listening_now) break;
    if (parent == nullptr || parent[0] != '/') continue;
    std::string place = std::string(parent) + "/lockstep-XXXXXX";
    if (mkdtemp(place.data()) == nullptr) continue;
    listening_now = listen_at(place + "/control");
    if (listening_now) {
      private_folder_ = place;
    } else {
      rmdir(place.c_str());
    }
  }
  if (!listening_now) return false;
  note_path_ = folder + "/" + name;
  const std::string text =
      "host=" + host + "\nprocess=" + std::to_string(getpid()) + "\nsocket=" + socket_path_ + "\n";
  const std::string temporary = note_path_ + ".part";
  if (!write_whole(temporary, text) || rename(temporary.c_str(), note_path_.c_str()) != 0) {
    unlink(temporary.c_str());
    note_path_.clear();
    close();
    return false;
  }
  struct stat status {};
  const int number = listener_.number();
  if (fstat(number, &status) == 0) {
    listening_inode.store(status.st_ino, std::memory_order_relaxed);
    listening.store(number, std::memory_order_release);
  }
  if (stat(note_path_.c_str(), &status) == 0) note_inode_ = status.st_ino;
  return true;
}

bool Endpoint::serve_one(Client& client, const std::function<std::string(Request)>& answer) {
  std::array<char, kLongestLine> buffer{};
  const int number = client.descriptor.number();
  if (number < 0) return true;
  const ssize_t count = recv(number, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count == 0) return true;
  if (count < 0) return (errno != EAGAIN && errno != EINTR) || ++client.turns > kMaxTurns;
  client.line.append(buffer.data(), static_cast<std::size_t>(count));
  const std::size_t end = client.line.find('\n');
  if (end == std::string::npos) return client.line.size() > kLongestLine;
  const std::string reply = answer(parse_request(std::string_view(client.line).substr(0, end))) + "\n";
  // A fresh connection's buffer takes a line; MSG_NOSIGNAL, since the job may have SIGPIPE's default.
  (void)!send(number, reply.data(), reply.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return true;
}

void Endpoint::serve(const std::function<std::string(Request)>& answer) {
  const int number = listener_.number();
  while (number >= 0 && clients_.size() < kMaxClients) {
    OwnDescriptor client(accept4(number, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (client.number() < 0) break;
    if (is_same_user(client.number())) clients_.push_back(Client{std::move(client), {}, 0});
  }
  std::erase_if(clients_, [&](Client& client) { return serve_one(client, answer); });
}

void Endpoint::close() {
  clients_.clear();
  if (listening.load(std::memory_order_relaxed) >= 0) listening.store(-1, std::memory_order_relaxed);
  listener_.close();
  if (!socket_path_.empty()) unlink(socket_path_.c_str());
  if (!private_folder_.empty()) rmdir(private_folder_.c_str());
  struct stat status {};
  // Another process of the same rank may have taken its place by now.
  const bool ours =
      !note_path_.empty() && stat(note_path_.c_str(), &status) == 0 && status.st_ino == note_inode_;
  if (ours) unlink(note_path_.c_str());
  socket_path_.clear();
  private_folder_.clear();
  note_path_.clear();
}

void Endpoint::forget_after_fork() noexcept {
  const int number = listening.exchange(-1, std::memory_order_relaxed);
  struct stat status {};
  if (number >= 0 && fstat(number, &status) == 0 &&
      status.st_ino == listening_inode.load(std::memory_order_relaxed)) {
    ::close(number);
  }
}

}  // namespace lockstep::tracer::control

// The socket by which `lockstep record --attach` speaks to a traced process: a line comes, a line goes back.
//
// Served by the writer thread between two drains, so that it needs no thread of its own and never holds the
// job up. Nothing here waits. The file of mode 0600 stands in RUN/control, or, where its path is too long or
// the file system has no sockets, in a private folder below XDG_RUNTIME_DIR or /tmp; RUN/control/<name> says
// where. Other users are sent away by what the kernel says of them. A descriptor that the job has closed, and
// perhaps opened something else under, is left alone.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tracer/inject/core/own_descriptor.h"

namespace lockstep::tracer::control {

enum class Request : std::uint8_t { unknown, status, start, stop, snapshot, hang };
Request parse_request(std::string_view line);

class Endpoint {
 public:
  // Makes the socket. `name` is that of the trace file without its suffix. False if it can't be had: then
  // nobody can attach, and nothing else changes.
  bool open(const std::string& run_folder, const std::string& name, const std::string& host);
  // Answers what has come. Takes no longer than `answer` does.
  void serve(const std::function<std::string(Request)>& answer);
  // Removes what open() made.
  void close();
  ~Endpoint() { close(); }
  Endpoint() = default;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  bool is_open() const { return listener_.number() >= 0; }
  // In a forked child: the parent's sockets are not the child's to answer.
  static void forget_after_fork() noexcept;

 private:
  struct Client {
    OwnDescriptor descriptor;
    std::string line;
    int turns = 0;  // that it has been waited for
  };
  bool listen_at(const std::string& path);
  bool serve_one(Client& client, const std::function<std::string(Request)>& answer);

  OwnDescriptor listener_;
  std::vector<Client> clients_;
  std::string socket_path_;
  std::string private_folder_;
  std::string note_path_;
  std::uint64_t note_inode_ = 0;
};

}  // namespace lockstep::tracer::control

#include "reference_trainer/distributed/store_server.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>

namespace lockstep::trainer {
namespace {

class TcpStoreServer : public StoreServer {
 public:
  explicit TcpStoreServer(c10::intrusive_ptr<c10d::TCPStore> store) : store_(std::move(store)) {}
  std::uint16_t port() const override { return store_->getPort(); }

 private:
  c10::intrusive_ptr<c10d::TCPStore> store_;
};

Error system_error(const char* what) {
  return Error{std::string("cannot ") + what + " for the rendezvous of the ranks: " + std::strerror(errno)};
}

}  // namespace

Result<std::unique_ptr<StoreServer>> StoreServer::start() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) return system_error("make a socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    const Error error = system_error("bind a port of 127.0.0.1");
    close(listener);
    return error;
  }
  c10d::TCPStoreOptions options;
  options.isServer = true;
  options.waitWorkers = false;
  options.port = ntohs(address.sin_port);
  options.masterListenFd = listener;  // from here on the store's
  try {
    return std::unique_ptr<StoreServer>(
        std::make_unique<TcpStoreServer>(c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options)));
  } catch (const c10::Error& error) {
    return Error{std::string("cannot run the rendezvous store: ") + error.what_without_backtrace()};
  }
}

}  // namespace lockstep::trainer

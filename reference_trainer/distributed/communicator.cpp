#include "reference_trainer/distributed/communicator.h"

#include <ATen/ops/full.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/csrc/distributed/c10d/comm.hpp>

#include "reference_trainer/distributed/instrumented_backend.h"
#include "reference_trainer/distributed/slow_link.h"
#include "reference_trainer/distributed/store_server.h"
#include "reference_trainer/faults/rank_faults.h"

namespace lockstep::trainer {
namespace {

constexpr std::size_t kBroadcastBytes = 25 * 1024 * 1024;  // how many parameters travel in one broadcast

bool is_loopback(const std::string& address) {
  return address == "localhost" || address.starts_with("127.");
}

c10::intrusive_ptr<c10d::Store> rendezvous(const Placement& placement, std::chrono::seconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = placement.master_port;
  options.isServer = !placement.launcher_runs_store && placement.rank == 0;
  options.waitWorkers = false;
  options.timeout = timeout;
  auto store = c10::make_intrusive<c10d::TCPStore>(placement.master_address, options);
  return c10::make_intrusive<c10d::PrefixStore>("lockstep/" + std::to_string(placement.restart_count), store);
}

// Gloo resolves this machine's host name by default, which on many machines gives 127.0.0.1: good within the
// machine, useless across hosts. PyTorch's Python layer reads GLOO_SOCKET_IFNAME; here it has to be done by
// hand.
std::shared_ptr<gloo::transport::Device> network_device(const Placement& placement) {
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  if (interface != nullptr && *interface != '\0')
    return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
  if (is_loopback(placement.master_address))
    return c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
  return c10d::ProcessGroupGloo::createDefaultDevice();
}

annotations::Group whole_job(const std::string& name, int size) {
  annotations::Group group{.id = 0, .name = name, .ranks = std::vector<int>(static_cast<std::size_t>(size))};
  std::iota(group.ranks.begin(), group.ranks.end(), 0);
  return group;
}

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

Communicator::Communicator(const Placement& placement, std::chrono::seconds timeout, const std::string& name,
                           const PaceOptions& pace, RankFaults& faults)
    : rank_(placement.rank),
      size_(placement.world_size),
      placement_(placement),
      timeout_(timeout),
      pace_(pace),
      faults_(faults),
      store_(rendezvous(placement, timeout)) {
  annotations::Group all = whole_job(name, size_);
  backend_ =
      c10::make_intrusive<InstrumentedBackend>(connect_gloo(name, all.ranks), std::move(all), pace, faults);
  group_ = c10::make_intrusive<c10d::ProcessGroup>(store_, rank_, size_);
  group_->setBackend(at::kCPU, c10d::ProcessGroup::BackendType::GLOO,
                     c10::intrusive_ptr<c10d::Backend>(backend_));
  group_->setDefaultBackend(c10d::ProcessGroup::BackendType::GLOO);
}

Communicator::~Communicator() = default;

void Communicator::set_purpose(Purpose purpose) {
  backend_->set_purpose(purpose);
}

Traffic Communicator::traffic(Purpose purpose) const {
  return backend_->traffic(purpose);
}

void Communicator::broadcast(std::vector<at::Tensor> tensors) {
  c10d::broadcast_coalesced(group_, tensors, kBroadcastBytes, /*rank=*/0);
}

std::function<double()> Communicator::start_sum(double value) {
  std::vector<at::Tensor> tensors{at::full({1}, value, at::kDouble)};
  auto work = group_->allreduce(tensors);
  return [work, result = tensors.front()] {
    work->wait();
    return result.item<double>();
  };
}

c10::intrusive_ptr<c10d::Backend> Communicator::connect(const std::string& name,
                                                        const std::vector<int>& ranks) {
  auto transport = connect_gloo(name, ranks);
  if (!faults_.slows_links()) return transport;
  return c10::make_intrusive<SlowLink>(std::move(transport), faults_);
}

c10::intrusive_ptr<c10d::Backend> Communicator::connect_gloo(const std::string& name,
                                                             const std::vector<int>& ranks) {
  auto options = c10d::ProcessGroupGloo::Options::create(timeout_);
  options->devices.push_back(network_device(placement_));
  options->threads = 1;
  const auto own = std::find(ranks.begin(), ranks.end(), rank_) - ranks.begin();
  return c10::make_intrusive<c10d::ProcessGroupGloo>(c10::make_intrusive<c10d::PrefixStore>(name, store_),
                                                     static_cast<int>(own), static_cast<int>(ranks.size()),
                                                     options);
}

void Communicator::barrier() {
  group_->barrier()->wait();
}

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

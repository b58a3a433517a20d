#include "reference_trainer/distributed/connections.h"

#include <algorithm>
#include <cstdlib>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>

#include "reference_trainer/distributed/nccl_backend.h"
#include "reference_trainer/distributed/slow_link.h"
#include "reference_trainer/distributed/staged_backend.h"
#include "reference_trainer/faults/rank_faults.h"
#include "reference_trainer/streams/device_stream.h"

namespace lockstep::trainer {
namespace {

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

int place_in(const std::vector<int>& ranks, int rank) {
  return static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

}  // namespace

Connections::Connections(const Placement& placement, std::chrono::seconds timeout,
                         const ComputeDevice& device, RankFaults& faults)
    : placement_(placement),
      timeout_(timeout),
      device_(device),
      faults_(faults),
      store_(rendezvous(placement, timeout)) {}

Connections::~Connections() = default;

c10::intrusive_ptr<c10d::Backend> Connections::gloo(const std::string& name,
                                                    const std::vector<int>& ranks) const {
  auto options = c10d::ProcessGroupGloo::Options::create(timeout_);
  options->devices.push_back(network_device(placement_));
  options->threads = 1;
  return c10::make_intrusive<c10d::ProcessGroupGloo>(c10::make_intrusive<c10d::PrefixStore>(name, store_),
                                                     place_in(ranks, placement_.rank),
                                                     static_cast<int>(ranks.size()), options);
}

c10::intrusive_ptr<c10d::Backend> Connections::transport(const std::string& name,
                                                         const std::vector<int>& ranks) const {
  if (device_.nccl)
    return make_nccl_backend(c10::make_intrusive<c10d::PrefixStore>(name, store_),
                             place_in(ranks, placement_.rank), static_cast<int>(ranks.size()), timeout_);
  auto transport = gloo(name, ranks);
  if (faults_.slows_links()) transport = c10::make_intrusive<SlowLink>(std::move(transport), faults_);
  if (device_.is_cpu()) return transport;
  return c10::make_intrusive<StagedBackend>(std::move(transport));
}

std::unique_ptr<Stream> Connections::make_stream(const std::string& name) const {
  if (device_.is_cpu()) return std::make_unique<HostStream>(name);
  if (device_.nccl) return std::make_unique<DeviceStream>(device_.device, name);
  return std::make_unique<BlockingDeviceStream>(device_.device, name);
}

}  // namespace lockstep::trainer

#include "reference_trainer/distributed/communicator.h"

#include <ATen/ops/full.h>

#include <numeric>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/comm.hpp>
#include <utility>

#include "reference_trainer/distributed/failure.h"
#include "reference_trainer/distributed/instrumented_backend.h"
#include "reference_trainer/distributed/stream_backend.h"

namespace lockstep::trainer {
namespace {

using BackendType = c10d::ProcessGroup::BackendType;

constexpr std::size_t kBroadcastBytes = 25 * 1024 * 1024;  // how many parameters travel in one broadcast
// Beside an accelerator's group of all ranks: what the host has to know, as the loss.
constexpr std::uint64_t kHostGroup = 63;

annotations::Group all_ranks(std::uint64_t id, const std::string& name, int size) {
  annotations::Group group{.id = id, .name = name, .ranks = std::vector<int>(static_cast<std::size_t>(size))};
  std::iota(group.ranks.begin(), group.ranks.end(), 0);
  return group;
}

}  // namespace

Communicator::Communicator(const Placement& placement, const std::string& configuration,
                           std::chrono::seconds timeout, const std::string& name, const ComputeDevice& device,
                           const PaceOptions& pace, RankFaults& faults)
    : rank_(placement.rank),
      size_(placement.world_size),
      pace_(pace),
      faults_(faults),
      connections_(placement, configuration, timeout, device, faults) {
  const bool on_host = device.is_cpu();
  annotations::Group host = on_host ? all_ranks(0, name, size_) : all_ranks(kHostGroup, "host", size_);
  host_ = c10::make_intrusive<InstrumentedBackend>(connections_.gloo(host.name, host.ranks), std::move(host),
                                                   pace, faults);
  group_ = c10::make_intrusive<c10d::ProcessGroup>(connections_.store(), rank_, size_);
  group_->setBackend(at::kCPU, BackendType::GLOO, c10::intrusive_ptr<c10d::Backend>(host_));
  group_->setDefaultBackend(BackendType::GLOO);
  if (on_host) return;
  const annotations::Group all = all_ranks(0, name, size_);
  device_ = c10::make_intrusive<StreamBackend>(connections_.transport(name, all.ranks), all,
                                               connections_.make_stream(name), device.device);
  group_->setBackend(device.device.type(), device.nccl ? BackendType::NCCL : BackendType::CUSTOM,
                     c10::intrusive_ptr<c10d::Backend>(device_));
}

Communicator::~Communicator() = default;

void Communicator::set_purpose(Purpose purpose) {
  host_->set_purpose(purpose);
  if (device_) device_->set_purpose(purpose);
}

Traffic Communicator::traffic(Purpose purpose) const {
  return device_ ? device_->traffic(purpose) : host_->traffic(purpose);
}

void Communicator::broadcast(std::vector<at::Tensor> tensors) {
  naming("broadcast of the first parameters from rank 0",
         [&] { c10d::broadcast_coalesced(group_, tensors, kBroadcastBytes, /*rank=*/0); });
}

std::function<double()> Communicator::start_sum(double value, const std::string& of) {
  std::vector<at::Tensor> tensors{at::full({1}, value, at::kDouble)};
  const std::string operation = "sum of the " + of + " over all ranks";
  auto work = naming(operation, [&] { return group_->allreduce(tensors); });
  return [work, result = tensors.front(), operation] {
    naming(operation, [&] { work->wait(); });
    return result.item<double>();
  };
}

void Communicator::barrier() {
  naming("barrier of all ranks at the end", [this] { host_->barrier({})->wait(); });
}

}  // namespace lockstep::trainer

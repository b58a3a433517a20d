#include "reference_trainer/device/compute_device.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace lockstep::trainer {
namespace {

constexpr c10::DeviceType kCuda = c10::DeviceType::CUDA;

// NCCL up to 2.29 refuses two ranks on one GPU, which it knows by host and bus: so each rank becomes a host
// of its own, and they meet over loopback. That shows that a job works, and nothing about its speed.
void let_ranks_share_a_gpu(const Placement& placement) {
  setenv("NCCL_HOSTID", ("lockstep-rank-" + std::to_string(placement.rank)).c_str(), /*overwrite=*/0);
  if (placement.world_size == placement.local_world_size) setenv("NCCL_SOCKET_IFNAME", "lo", /*overwrite=*/0);
}

Status load_cuda() {
  if (c10::impl::hasDeviceGuardImpl(kCuda)) return {};
  // Never closed: it registers itself with libtorch.
  if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) != nullptr) return {};
  const char* const reason = dlerror();
  return Error{std::string("--device cuda: cannot load libtorch's CUDA half: ") +
               (reason == nullptr ? "no reason given" : reason) +
               "; `scripts/setup --cuda` fetches what it needs"};
}

}  // namespace

Result<ComputeDevice> open_device(const Options& options, const Placement& placement) {
  if (options.device != Device::cuda) return ComputeDevice{};
  if (const Status status = load_cuda(); !status.ok()) return status.error();
  const c10::impl::VirtualGuardImpl guard(kCuda);
  const int count = guard.deviceCount();
  if (count == 0)
    return Error{
        "--device cuda: no GPU is visible here; see what `nvidia-smi` says and whether CUDA_VISIBLE_DEVICES "
        "hides them"};
  const ComputeDevice device{c10::Device(kCuda, static_cast<c10::DeviceIndex>(placement.local_rank % count)),
                             transport_of(options, placement.local_world_size, count) == Transport::nccl};
  if (device.nccl && count < placement.local_world_size) let_ranks_share_a_gpu(placement);
  guard.setDevice(device.device);
  return device;
}

}  // namespace lockstep::trainer

// Where a rank's tensors live and how they travel.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/TensorOptions.h>

#include "base/result.h"
#include "reference_trainer/launcher/placement.h"
#include "reference_trainer/options/options.h"

namespace lockstep::trainer {

struct ComputeDevice {
  c10::Device device = c10::Device(c10::DeviceType::CPU);
  bool nccl = false;  // operations of the device are NCCL's, not Gloo's over the host's memory

  bool is_cpu() const { return device.is_cpu(); }
  // Of a tensor of this type there.
  c10::TensorOptions options(c10::ScalarType type) const { return c10::TensorOptions(type).device(device); }
};

// The CPU, or, with --device cuda, one of this node's GPUs: number `local_rank` modulo how many there are.
// libtorch's CUDA half is loaded here, at run time, so that the trainer starts where there is none. An error
// says what is missing and what to do.
Result<ComputeDevice> open_device(const Options& options, const Placement& placement);

}  // namespace lockstep::trainer

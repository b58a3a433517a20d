// ZeRO-3: this rank's part of each parameter between its uses, in the type of compute: in memory, or in a
// file where they are offloaded to "nvme". (On the CPU, memory of the device and of the host is the same.)
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "reference_trainer/modes/zero/deepspeed_config.h"
#include "reference_trainer/modes/zero/swap_file.h"

namespace lockstep::trainer {

class ShardStore {
 public:
  // `part_elements` of each parameter.
  ShardStore(const std::vector<std::int64_t>& part_elements, at::ScalarType compute,
             const OffloadOptions& offload, c10::Device device);

  // Undefined where there is a file.
  const at::Tensor& memory() const { return memory_; }

  // `values`: [part_elements], of any type.
  void write(std::size_t parameter, const at::Tensor& values);
  // `destination`: [part_elements], contiguous, of the compute type.
  void read(std::size_t parameter, const at::Tensor& destination);

 private:
  std::vector<std::int64_t> begins_;  // elements
  at::ScalarType compute_;
  at::Tensor memory_;               // undefined where there is a file
  std::unique_ptr<SwapFile> file_;  // null unless offloaded to one
};

}  // namespace lockstep::trainer

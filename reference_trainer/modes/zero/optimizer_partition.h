// This rank's part of all parameters as the optimizer has them: the weights it updates, in the master type,
// and the sums of their gradients, in the type of compute, in flat pieces ("sub-groups") of whole parameters.
//
// Offloaded, weights and gradients for the optimizer are in the host's memory, or in a file between the
// steps; gradients are summed in memory of the device and copied over before the update. On the CPU these are
// copies from memory to memory, or through the file, and take the time that they take.
//
//   begin_step → add_gradient, many times → before_update → the optimizer → value() → after_update
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "reference_trainer/modes/zero/deepspeed_config.h"
#include "reference_trainer/modes/zero/swap_file.h"

namespace lockstep::trainer {

class OptimizerPartition {
 public:
  // `parts`: of each parameter, one dimension. A sub-group holds consecutive ones of together at most
  // `sub_group_size` elements, or a larger one alone.
  OptimizerPartition(const std::vector<at::Tensor>& parts, at::ScalarType gradients,
                     std::int64_t sub_group_size, const OffloadOptions& offload);

  std::vector<at::Tensor> leaves() const;
  std::vector<at::Tensor> gradients() const;

  void begin_step();
  void add_gradient(std::size_t parameter, const at::Tensor& part);
  // Then the leaves have values and gradients,
  void before_update();
  // and these are the parts' new values,
  at::Tensor value(std::size_t parameter) const;
  // until here.
  void after_update();

 private:
  struct SubGroup {
    at::Tensor leaf;
    at::Tensor sums = {};      // of gradients, on the device; undefined until there is one to add
    at::Tensor gradient = {};  // the same where the optimizer is
    std::int64_t in_file = 0;  // bytes; the weights, then the gradients
  };
  at::Tensor& sums_of(SubGroup& group);
  void bring_to_host(SubGroup& group);

  struct Place {
    std::size_t group;
    std::int64_t begin, elements;
  };

  std::vector<SubGroup> groups_;
  std::vector<Place> places_;  // of each parameter
  at::TensorOptions sums_options_;
  bool offloaded_;
  std::unique_ptr<SwapFile> file_;  // null unless offloaded to one
};

}  // namespace lockstep::trainer

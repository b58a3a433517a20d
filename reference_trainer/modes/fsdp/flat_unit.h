// Some of a model's parameters as one flat tensor, of which each rank keeps a part
// (FullyShardedDataParallel's FlatParameter). The whole is there only between allocate() and free(); the
// module's parameters are views of it, and touching them in between is an error of torch, not a silent read
// of old values.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::trainer {

class FlatUnit {
 public:
  // Takes the parameters' values over; they become views of a whole in `compute` type. Afterwards the whole
  // is not there, and shard() holds part `rank` of `size` in the type that the parameters had. Padded with
  // zeros to a multiple of `multiple` elements, itself one of `size`. Of
  // size 1 in one precision, the shard is the whole, and stays. `offload`: the shard is in the host's memory
  // (on the CPU, where all is).
  FlatUnit(std::string name, std::vector<at::Tensor> parameters, at::ScalarType compute, int rank, int size,
           int multiple, bool offload);

  bool is_whole() const;

  const std::string& name() const { return name_; }

  // This rank's part, a leaf for the optimizer: [elements / size].
  const at::Tensor& shard() const { return shard_; }
  // Memory for the whole, with this rank's part filled in; returns it, [elements].
  at::Tensor allocate();
  void free();
  // Fills this rank's part in again, where the whole is kept.
  void refresh();

  // The gradients of the parameters as one padded tensor of this type; the parameters have none afterwards.
  at::Tensor take_gradients(at::ScalarType type);

  // Elements, padding included.
  std::int64_t elements() const { return whole_.numel(); }

 private:
  std::string name_;
  std::vector<at::Tensor> parameters_;
  int rank_;
  at::Tensor whole_;
  at::Tensor shard_;
};

}  // namespace lockstep::trainer

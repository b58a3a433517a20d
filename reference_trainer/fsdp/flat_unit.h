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
  // Takes the parameters' values over; they become views. Afterwards the whole is not there, and shard()
  // holds this rank's part. Padded with zeros to a multiple of `size` elements.
  FlatUnit(std::string name, std::vector<at::Tensor> parameters, int rank, int size);

  const std::string& name() const { return name_; }
  const std::vector<at::Tensor>& parameters() const { return parameters_; }

  // This rank's part, a leaf for the optimizer: [elements / size].
  const at::Tensor& shard() const { return shard_; }
  // Memory for the whole, with this rank's part filled in; returns it, [elements].
  at::Tensor allocate();
  void free();

  // The gradients of the parameters as one padded tensor; the parameters have none afterwards.
  at::Tensor take_gradients();

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

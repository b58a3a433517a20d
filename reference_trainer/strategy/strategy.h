// A way to share the work of a step over ranks: what the modes of `lockstep train --mode` are. The training
// loop (training/training.cpp) is the same for all of them:
//
//   run → sum of the loss → gradient norm, clipping → optimizer → after_update
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reference_trainer/device/compute_device.h"
#include "reference_trainer/launcher/placement.h"
#include "reference_trainer/memory/theory.h"
#include "reference_trainer/options/options.h"
#include "reference_trainer/strategy/microbatch_pass.h"

namespace lockstep::trainer {

class Communicator;

// Gradients that are reduced together.
struct Bucket {
  std::int64_t bytes = 0;
  std::vector<std::string> parameters;  // in the order of their gradients in the bucket
};

// Tokens of some sequences and the token after each: int64 [sequences, length].
struct Batch {
  at::Tensor tokens, targets;
};

class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // The batch of the next micro-step of this step. Loads it inside a range `data_loading`.
  virtual Batch next() = 0;
};

struct StrategyContext {
  const Options& options;
  const Placement& placement;
  Model& model;
  const ComputeDevice& device;  // where the model is
  Communicator* communicator;   // of all ranks; null where the job has one
  ComputeLane& lane;
  // To be told about gradient buckets, before the first step that uses them.
  std::function<void(bool rebuilt, const std::vector<Bucket>&)> on_buckets;
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  // The leaves that the optimizer updates on this rank: the same ones, in the same order, at each call.
  virtual std::vector<at::Tensor> optimized() = 0;
  // Forward and backward of all micro-steps of a step. Afterwards the leaves have their gradients, of the
  // mean over the whole batch of the step. Returns this rank's share of the mean loss: the sum over all ranks
  // of the job is that mean.
  virtual double run(BatchSource& batches) = 0;
  // What run() made, one for each leaf: the leaves' own; or of the precision of compute where the leaves have
  // none, which are then given theirs one by one.
  virtual std::vector<at::Tensor> gradients();
  // How many ranks hold the gradient of each parameter. The square of the whole gradient's norm is the sum of
  // the squares over all ranks, divided by this.
  virtual int gradient_copies() const = 0;
  // Memory for parameters beside the model's own and the leaves.
  virtual std::vector<at::Tensor> parameter_stores() const { return {}; }
  // The most bytes of gradients that the last run() held at once, where it gives them up as it goes; 0: what
  // gradients() has is all.
  virtual std::int64_t most_gradient_bytes() const { return 0; }
  // After the optimizer has updated the leaves.
  virtual void after_update() {}
  // Over how many ranks the state is divided.
  virtual StateShares shares() const { return {}; }
  // Of modes that gather parameters: how many times in a step, where that is not once in each forward and
  // once in each backward pass.
  virtual std::optional<int> gathers() const { return std::nullopt; }
  // Whether the optimizer's leaves are masters beside whole parameters, in every precision.
  virtual bool leaves_are_masters() const { return false; }
  // How many of the model's `elements` parameters this rank's part of the model has, if nothing is divided.
  virtual std::int64_t own_elements(std::int64_t elements) const { return elements; }
  // What a rank of this way of training has to hold of `elements` parameters of the whole model
  // (memory/theory.h).
  virtual StateBytes theory(std::int64_t elements) const = 0;
};

// Overwrites the model's parameters with those of rank 0.
void broadcast_parameters(const StrategyContext& context);

// What every strategy's passes have in common, from the options; hooks are the strategy's to add.
PassContext pass_context(const StrategyContext& context);

// One micro-step through the whole model, in phases `forward` and `backward`. Returns its loss, unscaled.
double forward_backward(const PassContext& context, const Batch& batch, int index, double loss_scale);

}  // namespace lockstep::trainer

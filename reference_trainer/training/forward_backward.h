// One micro-step's forward and backward pass, with the annotations that show what is computed when.
//
// Each part of the model is a compute range of its own, in both directions. Backward ranges change at
// autograd hooks on the activations between the parts. The last one closes when the graph is through, before
// the Reducer waits for its all-reduces: compute never covers waiting.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace lockstep::trainer {

class Transformer;

// Called outside of compute ranges, as each part of the model is about to be used, or has been: a layer, or
// −1 for what is before and behind the layers (embedding and head). Empty functions are not called.
struct PartHooks {
  std::function<void(int layer)> before_forward, after_forward;
  std::function<void(int layer)> before_backward;  // of −1 only before the head
};

struct MicroStep {
  int index = 0;
  at::Tensor tokens;
  at::Tensor targets;
  double loss_scale = 1;           // 1 / number of micro-steps, so that gradients are a mean
  bool reduces_gradients = false;  // the end of backward waits for all-reduces
  int forward_repetitions =
      1;  // above 1: each layer's forward is computed so many times, the last one counts
  std::function<void()> between_passes;  // called after forward, before backward
  PartHooks parts;
};

// Returns the mean loss of the micro-step, unscaled. Gradients are added to the parameters'.
double forward_backward(Transformer& model, const MicroStep& micro_step);

}  // namespace lockstep::trainer

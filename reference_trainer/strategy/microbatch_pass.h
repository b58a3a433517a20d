// The forward and backward pass of one microbatch through some or all parts of a model, part by part: each
// part's input is cut off from the part before it, so backward is one call of autograd for each part, and
// whatever a way of parallel training does before and after a part's compute stands in plain sight.
//
//   MicrobatchPass pass(context, microbatch, 0, model.head());
//   pass.forward(tokens, targets);
//   pass.backward({}, loss_scale);
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "reference_trainer/device/compute_lane.h"

namespace lockstep::trainer {

class Model;

// Called outside of compute ranges. Empty functions are not called.
struct PartHooks {
  std::function<void(int part)> before_forward, after_forward, before_backward, after_backward;
};

struct PassContext {
  Model& model;
  ComputeLane& lane;
  PartHooks hooks = {};
  // Layers keep their input alone, and backward computes their forward once more.
  bool checkpoint = false;
  // The part whose backward ends with a wait for communication inside of autograd (the Reducer's): its
  // compute range ends before that. −1: none.
  int waits_in_backward_of = -1;
};

class MicrobatchPass {
 public:
  // Parts `first` to `last`, both included. `context` must live as long as this.
  MicrobatchPass(const PassContext& context, int microbatch, int first, int last);

  // `input`: tokens (int64 [batch, sequence]) where `first` is the embedding, else the activation of the part
  // before. `targets` is used by the head alone. Returns the activation of the last part; undefined after the
  // head.
  at::Tensor forward(const at::Tensor& input, const at::Tensor& targets);
  // Mean over the microbatch, unscaled; 0 where `last` is not the head. On a device this waits for it: ask
  // when everything is issued.
  double loss() const;

  // `output_gradient`: of what forward() returned; where `last` is the head it is left undefined, and the
  // loss times `loss_scale` is differentiated. Adds to the gradients of the parameters. Returns the gradient
  // of the input; undefined where `first` is the embedding.
  at::Tensor backward(const at::Tensor& output_gradient, double loss_scale);

  // What each part made, as the graph knows it.
  std::vector<at::Tensor> outputs() const;

 private:
  struct Kept {
    at::Tensor input;   // a leaf
    at::Tensor output;  // undefined where checkpointed
  };
  at::Tensor compute(int part, const at::Tensor& input);
  void compute_in_vain(int part, const at::Tensor& input);
  at::Tensor forward_part(int part, const at::Tensor& input);
  at::Tensor backward_part(int part, const at::Tensor& output_gradient, double loss_scale);
  ComputeLane::Range range(Pass pass, int part, const at::Tensor& input, const char* suffix = "");
  bool is_layer(int part) const;

  const PassContext& context_;
  int microbatch_, first_, last_;
  at::Tensor targets_;
  at::Tensor loss_;
  std::vector<Kept> kept_;  // of part first_ + i
};

}  // namespace lockstep::trainer

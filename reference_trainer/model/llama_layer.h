// One layer of Llama (Touvron et al. 2023; with grouped-query attention as in Llama 2 70B and Llama 3):
// RMSNorm, causal attention with rotary position embedding, SwiGLU, no biases.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include "reference_trainer/model/llama_shape.h"

namespace lockstep::trainer {

// x / √(mean of x² + ε) · weight over the last dimension (Zhang, Sennrich 2019).
class RmsNormImpl : public torch::nn::Module {
 public:
  explicit RmsNormImpl(int width);
  at::Tensor forward(const at::Tensor& input);

 private:
  at::Tensor weight_;
};
TORCH_MODULE(RmsNorm);

// Rotary position embedding (Su et al. 2021): the pair (i, i + width/2) of a head at position p is turned by
// the angle p · base^(−2i/width). The product of a turned query and a turned key depends on the distance of
// their positions alone.
class Rotary {
 public:
  explicit Rotary(int head_width);
  // heads: [batch, heads, length, width]; positions count from 0.
  at::Tensor turn(const at::Tensor& heads);

 private:
  at::Tensor angle_steps_;  // [width / 2], float64
};

class LlamaLayerImpl : public torch::nn::Module {
 public:
  explicit LlamaLayerImpl(const LlamaShape& shape);
  // [batch, length, hidden], and the same back.
  at::Tensor forward(const at::Tensor& input);
  // `depth`: as of GPT-2's layers, scales down what joins the residual stream.
  void initialize(int depth);

 private:
  at::Tensor attention(const at::Tensor& input);
  at::Tensor mlp(const at::Tensor& input);

  LlamaShape shape_;
  Rotary rotary_;
  RmsNorm attention_norm_;
  torch::nn::Linear query_, key_, value_, attention_output_;
  RmsNorm mlp_norm_;
  torch::nn::Linear mlp_gate_, mlp_up_, mlp_down_;
};
TORCH_MODULE(LlamaLayer);

}  // namespace lockstep::trainer

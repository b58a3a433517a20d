// A decoder-only transformer on bytes: learned positions, pre-norm layers of causal multi-head attention and
// a GELU MLP, as in GPT-2 (Radford et al. 2019), without biases before the attention.
//
// The parts of the forward pass are functions of their own, so that a caller can put something between them
// (its annotations) without the model knowing.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>

#include <vector>

#include "reference_trainer/options/options.h"

namespace lockstep::trainer {

inline constexpr int kVocabulary = 256;  // a token is a byte

class LayerImpl : public torch::nn::Module {
 public:
  explicit LayerImpl(const ModelOptions& options);
  at::Tensor forward(const at::Tensor& input);
  // `depth` scales down what joins the residual stream, so that its variance does not grow with the number of
  // layers.
  void initialize(int depth);

 private:
  at::Tensor attention(const at::Tensor& input);

  int heads_;
  torch::nn::LayerNorm attention_norm_;
  torch::nn::Linear query_key_value_;
  torch::nn::Linear attention_output_;
  torch::nn::LayerNorm mlp_norm_;
  torch::nn::Linear mlp_input_;
  torch::nn::Linear mlp_output_;
};
TORCH_MODULE(Layer);

class Transformer : public torch::nn::Module {
 public:
  // Initial weights follow from the seed of torch's default generator.
  explicit Transformer(const ModelOptions& options);

  // tokens: int64 [batch, sequence]; returns [batch, sequence, hidden].
  at::Tensor embed(const at::Tensor& tokens);
  at::Tensor layer(int index, const at::Tensor& input);
  // Mean cross-entropy, in nats per token, of predicting `targets` (int64 [batch, sequence]).
  at::Tensor loss(const at::Tensor& hidden, const at::Tensor& targets);

  int layers() const { return static_cast<int>(layers_.size()); }

 private:
  torch::nn::Embedding token_embedding_;
  torch::nn::Embedding position_embedding_;
  std::vector<Layer> layers_;
  torch::nn::LayerNorm final_norm_;
  torch::nn::Linear head_;
};

}  // namespace lockstep::trainer

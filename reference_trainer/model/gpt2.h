// A decoder-only transformer on bytes: learned positions, pre-norm layers of causal multi-head attention and
// a GELU MLP, as in GPT-2 (Radford et al. 2019), without biases before the attention.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>

#include <vector>

#include "reference_trainer/model/model.h"

namespace lockstep::trainer {

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

class Gpt2 : public Model {
 public:
  explicit Gpt2(const ModelOptions& options);

  at::Tensor embed(const at::Tensor& tokens) override;
  at::Tensor layer(int index, const at::Tensor& input) override;
  at::Tensor loss(const at::Tensor& hidden, const at::Tensor& targets) override;
  int layers() const override { return static_cast<int>(layers_.size()); }

 protected:
  int part_of(const std::string& parameter) const override;

 private:
  torch::nn::Embedding token_embedding_;
  torch::nn::Embedding position_embedding_;
  std::vector<Layer> layers_;
  torch::nn::LayerNorm final_norm_;
  torch::nn::Linear head_;
};

}  // namespace lockstep::trainer

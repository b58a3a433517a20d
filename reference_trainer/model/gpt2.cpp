#include "reference_trainer/model/gpt2.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <torch/nn/init.h>

#include <cmath>
#include <string>

namespace lockstep::trainer {
namespace {

constexpr double kInitialDeviation = 0.02;
// Larger than GPT-2's 0.02: a LayerNorm divides the gradients of a token that was not seen before by the
// deviation of its embedding, and with 0.02 each batch with a new byte makes a spike of a hundred times the
// usual gradient.
constexpr double kEmbeddingDeviation = 0.3;
constexpr int kMlpExpansion = 4;

torch::nn::LayerNorm norm(int width) {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({width}));
}

torch::nn::Linear linear(int inputs, int outputs, bool bias) {
  return torch::nn::Linear(torch::nn::LinearOptions(inputs, outputs).bias(bias));
}

void initialize(torch::nn::Linear& linear, double deviation) {
  torch::nn::init::normal_(linear->weight, 0, deviation);
  if (linear->bias.defined()) torch::nn::init::zeros_(linear->bias);
}

}  // namespace

LayerImpl::LayerImpl(const ModelOptions& options)
    : heads_(options.heads),
      attention_norm_(register_module("attention_norm", norm(options.hidden))),
      query_key_value_(register_module("query_key_value", linear(options.hidden, 3 * options.hidden, false))),
      attention_output_(register_module("attention_output", linear(options.hidden, options.hidden, true))),
      mlp_norm_(register_module("mlp_norm", norm(options.hidden))),
      mlp_input_(register_module("mlp_input", linear(options.hidden, kMlpExpansion * options.hidden, true))),
      mlp_output_(
          register_module("mlp_output", linear(kMlpExpansion * options.hidden, options.hidden, true))) {}

void LayerImpl::initialize(int depth) {
  const double residual_deviation = kInitialDeviation / std::sqrt(2.0 * depth);
  trainer::initialize(query_key_value_, kInitialDeviation);
  trainer::initialize(attention_output_, residual_deviation);
  trainer::initialize(mlp_input_, kInitialDeviation);
  trainer::initialize(mlp_output_, residual_deviation);
}

at::Tensor LayerImpl::attention(const at::Tensor& input) {
  const auto batch = input.size(0);
  const auto length = input.size(1);
  const auto width = input.size(2);
  const auto parts = query_key_value_(input).view({batch, length, 3, heads_, width / heads_}).unbind(2);
  const at::Tensor mixed = at::scaled_dot_product_attention(
      parts[0].transpose(1, 2), parts[1].transpose(1, 2), parts[2].transpose(1, 2),
      /*attn_mask=*/{}, /*dropout_p=*/0.0, /*is_causal=*/true);
  return attention_output_(mixed.transpose(1, 2).reshape({batch, length, width}));
}

at::Tensor LayerImpl::forward(const at::Tensor& input) {
  const at::Tensor attended = input + attention(attention_norm_(input));
  return attended + mlp_output_(at::gelu(mlp_input_(mlp_norm_(attended))));
}

Gpt2::Gpt2(const ModelOptions& options)
    : token_embedding_(register_module("token_embedding", torch::nn::Embedding(kVocabulary, options.hidden))),
      position_embedding_(register_module("position_embedding",
                                          torch::nn::Embedding(options.sequence_length, options.hidden))),
      final_norm_(nullptr),
      head_(nullptr) {
  for (int index = 0; index < options.layers; ++index) {
    layers_.push_back(register_module("layer_" + std::to_string(index), Layer(options)));
  }
  final_norm_ = register_module("final_norm", norm(options.hidden));
  head_ = register_module("head", linear(options.hidden, kVocabulary, false));

  torch::nn::init::normal_(token_embedding_->weight, 0, kEmbeddingDeviation);
  torch::nn::init::normal_(position_embedding_->weight, 0, kEmbeddingDeviation);
  for (Layer& layer : layers_) layer->initialize(options.layers);
  initialize(head_, kInitialDeviation);
}

at::Tensor Gpt2::embed(const at::Tensor& tokens) {
  const at::Tensor positions = at::arange(tokens.size(1), tokens.options());
  // One after the other: the order in which these are computed decides the order in which their gradients are
  // ready.
  const at::Tensor token = token_embedding_(tokens);
  const at::Tensor position = position_embedding_(positions);
  return token + position;
}

at::Tensor Gpt2::layer(int index, const at::Tensor& input) {
  return layers_[static_cast<std::size_t>(index)](input);
}

at::Tensor Gpt2::loss(const at::Tensor& hidden, const at::Tensor& targets) {
  return cross_entropy(head_(final_norm_(hidden)), targets);
}

int Gpt2::part_of(const std::string& parameter) const {
  const bool embeds = parameter.starts_with("token_embedding") || parameter.starts_with("position_embedding");
  return part_of_layer(parameter).value_or(embeds ? 0 : head());
}

}  // namespace lockstep::trainer

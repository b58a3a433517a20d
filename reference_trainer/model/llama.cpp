#include "reference_trainer/model/llama.h"

#include <torch/nn/init.h>

namespace lockstep::trainer {
namespace {

constexpr double kInitialDeviation = 0.02;
// As GPT-2's here, and for the same reason: a norm divides the gradients of a token that was not seen before
// by the size of its embedding.
constexpr double kEmbeddingDeviation = 0.3;

LlamaShape shape_of(const ModelOptions& options) {
  return llama_shape(options.hidden, options.heads, options.kv_heads, options.intermediate_size).value();
}

}  // namespace

Llama::Llama(const ModelOptions& options)
    : token_embedding_(register_module("token_embedding", torch::nn::Embedding(kVocabulary, options.hidden))),
      final_norm_(nullptr),
      head_(nullptr) {
  for (int index = 0; index < options.layers; ++index) {
    layers_.push_back(register_module("layer_" + std::to_string(index), LlamaLayer(shape_of(options))));
  }
  final_norm_ = register_module("final_norm", RmsNorm(options.hidden));
  head_ = register_module(
      "head", torch::nn::Linear(torch::nn::LinearOptions(options.hidden, kVocabulary).bias(false)));

  torch::nn::init::normal_(token_embedding_->weight, 0, kEmbeddingDeviation);
  for (LlamaLayer& layer : layers_) layer->initialize(options.layers);
  torch::nn::init::normal_(head_->weight, 0, kInitialDeviation);
}

at::Tensor Llama::embed(const at::Tensor& tokens) {
  return token_embedding_(tokens);
}

at::Tensor Llama::layer(int index, const at::Tensor& input) {
  return layers_[static_cast<std::size_t>(index)](input);
}

at::Tensor Llama::loss(const at::Tensor& hidden, const at::Tensor& targets) {
  return cross_entropy(head_(final_norm_(hidden)), targets);
}

int Llama::part_of(const std::string& parameter) const {
  return part_of_layer(parameter).value_or(parameter.starts_with("token_embedding") ? 0 : head());
}

}  // namespace lockstep::trainer

// A decoder-only transformer on bytes as in Llama: layers of llama_layer.h, a final RMSNorm, and an embedding
// and a projection of their own. Positions are in the layers' rotary embedding alone.
#pragma once

#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>

#include <string>
#include <vector>

#include "reference_trainer/model/llama_layer.h"
#include "reference_trainer/model/model.h"

namespace lockstep::trainer {

class Llama : public Model {
 public:
  // The options are checked: llama_shape() accepts them.
  explicit Llama(const ModelOptions& options);

  at::Tensor embed(const at::Tensor& tokens) override;
  at::Tensor layer(int index, const at::Tensor& input) override;
  at::Tensor loss(const at::Tensor& hidden, const at::Tensor& targets) override;
  int layers() const override { return static_cast<int>(layers_.size()); }

 protected:
  int part_of(const std::string& parameter) const override;

 private:
  torch::nn::Embedding token_embedding_;
  std::vector<LlamaLayer> layers_;
  RmsNorm final_norm_;
  torch::nn::Linear head_;
};

}  // namespace lockstep::trainer

// A language model on bytes as a row of parts, so that a caller can put something between them (annotations,
// a gather of parameters, the boundary of a pipeline stage) without the model knowing:
//
//   part 0          the embedding
//   parts 1 … n     the n layers
//   part n + 1      the head: final norm, projection, loss
#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reference_trainer/model/parameter.h"
#include "reference_trainer/options/options.h"

namespace lockstep::trainer {

inline constexpr int kVocabulary = 256;  // a token is a byte

class Model : public torch::nn::Module {
 public:
  // tokens: int64 [batch, sequence]; returns [batch, sequence, hidden].
  virtual at::Tensor embed(const at::Tensor& tokens) = 0;
  // `index` counts from 0.
  virtual at::Tensor layer(int index, const at::Tensor& input) = 0;
  // Mean cross-entropy, in nats per token, of predicting `targets` (int64 [batch, sequence]).
  virtual at::Tensor loss(const at::Tensor& hidden, const at::Tensor& targets) = 0;
  virtual int layers() const = 0;

  int parts() const { return layers() + 2; }
  int head() const { return layers() + 1; }
  // "embedding", "layer 3" (part 4), "head".
  std::string name_of(int part) const;
  // In the order of registration.
  std::vector<Parameter> parameters_of(int part) const;
  std::vector<Parameter> all_parameters() const;
  // Elements of a part's matrices, which multiply every token; looked up, not counted.
  double matrix_weights(int part) const { return matrix_weights_[static_cast<std::size_t>(part)]; }

 protected:
  // Which part the parameter of this name belongs to.
  virtual int part_of(const std::string& parameter) const = 0;
  // That of the layer n of "layer_n.…"; nothing for a parameter of no layer.
  static std::optional<int> part_of_layer(const std::string& parameter);
  // Mean over all tokens, in float32 at least. logits: [batch, sequence, vocabulary].
  static at::Tensor cross_entropy(at::Tensor logits, const at::Tensor& targets);

 private:
  friend std::unique_ptr<Model> make_model(const ModelOptions& options);
  std::vector<double> matrix_weights_;
};

// Weights follow from the seed of torch's default generator: the same for every precision. They are float32
// or float64; for bfloat16 they are the float32 masters (compute_type() is what is computed in).
std::unique_ptr<Model> make_model(const ModelOptions& options);

// What activations, parameters in use and their gradients are held in.
at::ScalarType compute_type(Precision precision);
// What the optimizer updates.
at::ScalarType master_type(Precision precision);

}  // namespace lockstep::trainer

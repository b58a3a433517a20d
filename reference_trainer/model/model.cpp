#include "reference_trainer/model/model.h"

#include <ATen/ops/cross_entropy_loss.h>

#include <string_view>

#include "reference_trainer/model/gpt2.h"
#include "reference_trainer/model/llama.h"

namespace lockstep::trainer {

std::string Model::name_of(int part) const {
  if (part == 0) return "embedding";
  return part == head() ? "head" : "layer " + std::to_string(part - 1);
}

std::vector<Parameter> Model::parameters_of(int part) const {
  std::vector<Parameter> parameters;
  for (const auto& item : named_parameters()) {
    if (part_of(item.key()) == part) parameters.push_back({item.key(), item.value()});
  }
  return parameters;
}

std::vector<Parameter> Model::all_parameters() const {
  std::vector<Parameter> parameters;
  for (const auto& item : named_parameters()) parameters.push_back({item.key(), item.value()});
  return parameters;
}

std::optional<int> Model::part_of_layer(const std::string& parameter) {
  constexpr std::string_view kLayer = "layer_";
  if (!parameter.starts_with(kLayer)) return std::nullopt;
  return std::stoi(parameter.substr(kLayer.size())) + 1;
}

at::Tensor Model::cross_entropy(at::Tensor logits, const at::Tensor& targets) {
  // A sum of exponentials over the vocabulary has no business in 8 bits of mantissa.
  if (logits.scalar_type() == at::kBFloat16) logits = logits.to(at::kFloat);
  return at::cross_entropy_loss(logits.flatten(0, 1), targets.flatten());
}

std::unique_ptr<Model> make_model(const ModelOptions& options) {
  std::unique_ptr<Model> model;
  if (options.architecture == Architecture::llama)
    model = std::make_unique<Llama>(options);
  else
    model = std::make_unique<Gpt2>(options);
  model->to(master_type(options.precision));  // last: every precision starts from the same weights
  for (int part = 0; part < model->parts(); ++part) {
    double& weights = model->matrix_weights_.emplace_back();
    for (const Parameter& parameter : model->parameters_of(part)) {
      if (parameter.tensor.dim() > 1) weights += static_cast<double>(parameter.tensor.numel());
    }
  }
  return model;
}

at::ScalarType master_type(Precision precision) {
  return precision == Precision::float64 ? at::kDouble : at::kFloat;
}

at::ScalarType compute_type(Precision precision) {
  return precision == Precision::bfloat16 ? at::kBFloat16 : master_type(precision);
}

}  // namespace lockstep::trainer

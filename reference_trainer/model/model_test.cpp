// What both models must be to the ways of training: a row of parts that hold every parameter once, and learn.
#include "reference_trainer/model/model.h"

#include <ATen/ops/randint.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/optim/adamw.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace lockstep::trainer {
namespace {

class Models : public testing::TestWithParam<Architecture> {
 protected:
  static std::unique_ptr<Model> model(Precision precision = Precision::float64) {
    torch::manual_seed(1);
    return make_model({.architecture = GetParam(),
                       .layers = 2,
                       .hidden = 32,
                       .heads = 4,
                       .sequence_length = 16,
                       .precision = precision});
  }
  static at::Tensor loss_of(Model& model, const at::Tensor& tokens) {
    at::Tensor hidden = model.embed(tokens.narrow(1, 0, 16));
    for (int index = 0; index < model.layers(); ++index) hidden = model.layer(index, hidden);
    return model.loss(hidden, tokens.narrow(1, 1, 16).contiguous());
  }
  static at::Tensor tokens() {
    torch::manual_seed(2);
    return at::randint(0, kVocabulary, {4, 17}, at::kLong);
  }
};

TEST_P(Models, PartsHoldEveryParameterOnceInOrder) {
  const auto model = this->model();
  std::vector<std::string> of_parts, all;
  for (int part = 0; part < model->parts(); ++part) {
    const auto parameters = model->parameters_of(part);
    EXPECT_FALSE(parameters.empty()) << model->name_of(part);
    for (const Parameter& parameter : parameters) of_parts.push_back(parameter.name);
  }
  for (const Parameter& parameter : model->all_parameters()) all.push_back(parameter.name);
  EXPECT_THAT(of_parts, testing::UnorderedElementsAreArray(all));
  EXPECT_EQ(model->name_of(0), "embedding");
  EXPECT_EQ(model->name_of(2), "layer 1");
  EXPECT_EQ(model->name_of(model->head()), "head");
}

TEST_P(Models, KnowNothingAtFirstAndLearn) {
  const auto model = this->model();
  const at::Tensor tokens = this->tokens();
  torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(3e-3));
  // Close to uniform: log 256 nats.
  EXPECT_NEAR(loss_of(*model, tokens).item<double>(), std::log(256.0), 0.1);
  double loss = 0;
  for (int step = 0; step < 40; ++step) {
    optimizer.zero_grad();
    const at::Tensor current = loss_of(*model, tokens);
    current.backward();
    for (const Parameter& parameter : model->all_parameters())
      ASSERT_TRUE(parameter.tensor.grad().isfinite().all().item<bool>()) << parameter.name;
    optimizer.step();
    loss = current.item<double>();
  }
  EXPECT_LT(loss, 2.5);  // knows these few sequences half by heart
}

TEST_P(Models, WeightsAreTheSameInEveryPrecision) {
  const auto wide = model(), narrow = model(Precision::float32);
  const auto wide_parameters = wide->all_parameters(), narrow_parameters = narrow->all_parameters();
  ASSERT_EQ(wide_parameters.size(), narrow_parameters.size());
  for (std::size_t i = 0; i < wide_parameters.size(); ++i) {
    EXPECT_TRUE(wide_parameters[i].tensor.equal(narrow_parameters[i].tensor.to(at::kDouble)))
        << wide_parameters[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, Models, testing::Values(Architecture::gpt2, Architecture::llama),
                         [](const auto& info) { return std::string(to_string(info.param)); });

TEST(Llama, HasTheParametersOfItsShape) {
  const auto model = make_model({.architecture = Architecture::llama,
                                 .layers = 1,
                                 .hidden = 32,
                                 .heads = 4,
                                 .kv_heads = 2,
                                 .intermediate_size = 48});
  std::vector<std::string> shapes;
  for (const Parameter& parameter : model->parameters_of(1)) {
    shapes.push_back(parameter.name);
    for (const std::int64_t size : parameter.tensor.sizes()) shapes.back() += " " + std::to_string(size);
  }
  EXPECT_THAT(shapes, testing::ElementsAre("layer_0.attention_norm.weight 32", "layer_0.query.weight 32 32",
                                           "layer_0.key.weight 16 32", "layer_0.value.weight 16 32",
                                           "layer_0.attention_output.weight 32 32",
                                           "layer_0.mlp_norm.weight 32", "layer_0.mlp_gate.weight 48 32",
                                           "layer_0.mlp_up.weight 48 32", "layer_0.mlp_down.weight 32 48"));
  EXPECT_EQ(model->parameters_of(0).size(), 1u);              // no table of positions
  EXPECT_EQ(model->parameters_of(model->head()).size(), 2u);  // the norm, and a projection of its own
}

}  // namespace
}  // namespace lockstep::trainer

// The layer against a computation of its own in plain loops, and against what must be true of its parts.
#include "reference_trainer/model/llama_layer.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lockstep::trainer {
namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>;  // [token][feature]

Rows rows_of(const at::Tensor& matrix) {
  Rows rows;
  for (std::int64_t i = 0; i < matrix.size(0); ++i) {
    rows.emplace_back();
    for (std::int64_t j = 0; j < matrix.size(1); ++j) rows.back().push_back(matrix[i][j].item<double>());
  }
  return rows;
}

// --- the layer in plain loops
// --------------------------------------------------------------------------------

Row times(const Rows& weight, const Row& input) {
  Row output;
  for (const Row& row : weight) {
    double sum = 0;
    for (std::size_t i = 0; i < input.size(); ++i) sum += row[i] * input[i];
    output.push_back(sum);
  }
  return output;
}

Row normalised(const Row& input, const Row& weight) {
  double squares = 0;
  for (const double x : input) squares += x * x;
  const double root = std::sqrt(squares / static_cast<double>(input.size()) + 1e-5);
  Row output;
  for (std::size_t i = 0; i < input.size(); ++i) output.push_back(input[i] / root * weight[i]);
  return output;
}

// Pairs (i, i + width/2) as complex numbers, turned by multiplication.
void turn(Row& row, std::size_t first, std::size_t width, std::size_t position) {
  for (std::size_t i = 0; i < width / 2; ++i) {
    const double angle = static_cast<double>(position) *
                         std::pow(10'000.0, -2.0 * static_cast<double>(i) / static_cast<double>(width));
    const std::complex<double> turned =
        std::complex(row[first + i], row[first + width / 2 + i]) * std::polar(1.0, angle);
    row[first + i] = turned.real();
    row[first + width / 2 + i] = turned.imag();
  }
}

class PlainLayer {
 public:
  PlainLayer(const LlamaShape& shape, LlamaLayerImpl& layer) : shape_(shape) {
    for (const auto& item : layer.named_parameters()) {
      const at::Tensor& tensor = item.value();
      weights_[item.key()] = rows_of(tensor.dim() == 1 ? tensor.unsqueeze(0) : tensor);
    }
  }

  Rows operator()(const Rows& input) const {
    Rows output = input;
    const Rows mixed = attention(input);
    for (std::size_t token = 0; token < input.size(); ++token) {
      add(output[token], times(weight("attention_output.weight"), mixed[token]));
      const Row normal = normalised(output[token], weight("mlp_norm.weight").front());
      Row inner = times(weight("mlp_gate.weight"), normal);
      const Row up = times(weight("mlp_up.weight"), normal);
      for (std::size_t i = 0; i < inner.size(); ++i) inner[i] = inner[i] / (1 + std::exp(-inner[i])) * up[i];
      add(output[token], times(weight("mlp_down.weight"), inner));
    }
    return output;
  }

 private:
  const Rows& weight(const std::string& name) const { return weights_.at(name); }
  static void add(Row& row, const Row& more) {
    for (std::size_t i = 0; i < row.size(); ++i) row[i] += more[i];
  }

  Rows attention(const Rows& input) const {
    const auto width = static_cast<std::size_t>(shape_.head_width());
    const auto heads = static_cast<std::size_t>(shape_.heads),
               shared = static_cast<std::size_t>(shape_.kv_heads);
    Rows queries, keys, values, mixed(input.size(), Row(heads * width));
    for (std::size_t token = 0; token < input.size(); ++token) {
      const Row normal = normalised(input[token], weight("attention_norm.weight").front());
      queries.push_back(times(weight("query.weight"), normal));
      keys.push_back(times(weight("key.weight"), normal));
      values.push_back(times(weight("value.weight"), normal));
      for (std::size_t head = 0; head < heads; ++head) turn(queries[token], head * width, width, token);
      for (std::size_t head = 0; head < shared; ++head) turn(keys[token], head * width, width, token);
      for (std::size_t head = 0; head < heads; ++head) {
        const std::size_t from = head / (heads / shared) * width;
        Row likelihood;
        double sum = 0;
        for (std::size_t other = 0; other <= token; ++other) {
          double product = 0;
          for (std::size_t i = 0; i < width; ++i)
            product += queries[token][head * width + i] * keys[other][from + i];
          likelihood.push_back(std::exp(product / std::sqrt(static_cast<double>(width))));
          sum += likelihood.back();
        }
        for (std::size_t other = 0; other <= token; ++other)
          for (std::size_t i = 0; i < width; ++i)
            mixed[token][head * width + i] += likelihood[other] / sum * values[other][from + i];
      }
    }
    return mixed;
  }

  LlamaShape shape_;
  std::map<std::string, Rows> weights_;
};

// --- tests
// ---------------------------------------------------------------------------------------------------

LlamaShape shape(int kv_heads) {
  return llama_shape(/*hidden=*/24, /*heads=*/4, kv_heads, /*intermediate=*/20).value();
}

// With weights large enough that every part of the layer matters, norms' too.
LlamaLayer some_layer(const LlamaShape& shape) {
  torch::manual_seed(3);
  LlamaLayer layer(shape);
  layer->to(at::kDouble);
  const at::NoGradGuard no_gradient;
  for (const at::Tensor& parameter : layer->parameters())
    parameter.normal_(parameter.dim() == 1 ? 1 : 0, 0.3);
  return layer;
}

at::Tensor some_input(std::int64_t tokens) {
  torch::manual_seed(4);
  return at::randn({1, tokens, 24}, at::kDouble);
}

double difference(const at::Tensor& one, const at::Tensor& other) {
  return (one - other).abs().max().item<double>();
}

class LlamaLayerHeads : public testing::TestWithParam<int> {};

TEST_P(LlamaLayerHeads, ComputesWhatPlainLoopsCompute) {
  const LlamaShape sizes = shape(GetParam());
  LlamaLayer layer = some_layer(sizes);
  const at::Tensor input = some_input(7);
  const Rows output = rows_of(layer(input)[0]);
  const Rows expected = PlainLayer(sizes, *layer)(rows_of(input[0]));
  for (std::size_t token = 0; token < expected.size(); ++token)
    for (std::size_t i = 0; i < expected[token].size(); ++i)
      EXPECT_NEAR(output[token][i], expected[token][i], 1e-12) << "token " << token << ", feature " << i;
}

INSTANTIATE_TEST_SUITE_P(KeyAndValueHeads, LlamaLayerHeads, testing::Values(1, 2, 4),
                         [](const auto& info) { return std::to_string(info.param); });

TEST(LlamaLayer, SharedHeadsAreOneHeadRepeated) {
  LlamaLayer grouped = some_layer(shape(2)), full = some_layer(shape(4));
  const at::NoGradGuard no_gradient;
  auto weights = full->named_parameters();
  for (const auto& item : grouped->named_parameters()) {
    at::Tensor weight = item.value();
    if (item.key() == "key.weight" || item.key() == "value.weight")
      weight = weight.view({2, 6, 24}).repeat_interleave(2, 0).view({24, 24});
    weights[item.key()].copy_(weight);
  }
  EXPECT_LT(difference(grouped(some_input(9)), full(some_input(9))), 1e-12);
}

TEST(LlamaLayer, NoTokenSeesALaterOne) {
  LlamaLayer layer = some_layer(shape(2));
  const at::Tensor input = some_input(8), changed = input.clone();
  changed.narrow(1, 5, 3).add_(1);
  const at::Tensor before = layer(input), after = layer(changed);
  EXPECT_EQ(difference(before.narrow(1, 0, 5), after.narrow(1, 0, 5)), 0);
  EXPECT_GT(difference(before.narrow(1, 5, 3), after.narrow(1, 5, 3)), 1e-3);
}

TEST(LlamaLayer, GradientsAreDifferenceQuotients) {
  LlamaLayer layer = some_layer(shape(2));
  const at::Tensor input = some_input(5), direction = at::randn({1, 5, 24}, at::kDouble);
  const auto value = [&] { return (layer(input) * direction).sum(); };
  value().backward();
  constexpr double kStep = 1e-5;
  const at::NoGradGuard no_gradient;
  for (const auto& item : layer->named_parameters()) {
    const at::Tensor weight = item.value().flatten();
    for (const std::int64_t index : {std::int64_t{0}, weight.numel() / 2, weight.numel() - 1}) {
      const at::Tensor element = weight[index];
      element.add_(kStep);
      const double above = value().item<double>();
      element.sub_(2 * kStep);
      const double below = value().item<double>();
      element.add_(kStep);
      EXPECT_NEAR(item.value().grad().flatten()[index].item<double>(), (above - below) / (2 * kStep), 1e-7)
          << item.key() << "[" << index << "]";
    }
  }
}

TEST(Rotary, KeepsLengths) {
  const at::Tensor heads = at::randn({2, 3, 50, 8}, at::kDouble);
  EXPECT_LT(difference(Rotary(8).turn(heads).square().sum(-1), heads.square().sum(-1)), 1e-12);
}

TEST(Rotary, ProductsDependOnDistanceAlone) {
  constexpr std::int64_t kLength = 40;
  const at::Tensor query = at::randn({8}, at::kDouble), key = at::randn({8}, at::kDouble);
  const auto everywhere = [&](const at::Tensor& head) {
    return Rotary(8).turn(head.expand({1, 1, kLength, 8}))[0][0];
  };
  const at::Tensor products = everywhere(query).matmul(everywhere(key).t());  // [position][position]
  for (std::int64_t distance = -5; distance <= 5; ++distance) {
    const at::Tensor same = products.diagonal(distance);
    EXPECT_LT(difference(same, same[0]), 1e-12) << "distance " << distance;
  }
  EXPECT_GT(difference(products.diagonal(1)[0], products.diagonal(2)[0]), 1e-3);
}

TEST(RmsNorm, GivesVectorsOfLengthRootOfWidth) {
  RmsNorm norm(16);
  const at::Tensor input = at::randn({5, 16}) * 100;
  EXPECT_LT(difference(norm(input).square().mean(-1), at::ones({5})), 1e-5);
  EXPECT_LT(difference(norm(input * 7), norm(input)), 1e-5);  // scale does not matter, unlike a shift
  EXPECT_GT(difference(norm(input + 100), norm(input)), 0.1);
}

}  // namespace
}  // namespace lockstep::trainer

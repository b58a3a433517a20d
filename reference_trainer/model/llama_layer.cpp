#include "reference_trainer/model/llama_layer.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/silu.h>
#include <torch/nn/init.h>

#include <cmath>

namespace lockstep::trainer {
namespace {

constexpr double kEpsilon = 1e-5;
constexpr double kRotaryBase = 10'000;
constexpr double kInitialDeviation = 0.02;

torch::nn::Linear linear(int inputs, int outputs) {
  return torch::nn::Linear(torch::nn::LinearOptions(inputs, outputs).bias(false));
}

}  // namespace

RmsNormImpl::RmsNormImpl(int width) : weight_(register_parameter("weight", at::ones({width}))) {}

at::Tensor RmsNormImpl::forward(const at::Tensor& input) {
  return at::rms_norm(input, weight_.sizes(), weight_, kEpsilon);
}

Rotary::Rotary(int head_width)
    : angle_steps_(at::pow(kRotaryBase, at::arange(0, head_width, 2, at::kDouble) * (-1.0 / head_width))) {}

at::Tensor Rotary::turn(const at::Tensor& heads) {
  angle_steps_ = angle_steps_.to(heads.device());  // once: then they are there
  const at::Tensor positions = at::arange(heads.size(2), angle_steps_.options());
  const at::Tensor angles = at::outer(positions, angle_steps_);  // [length, width / 2]
  const at::Tensor cosine = angles.cos().to(heads.scalar_type());
  const at::Tensor sine = angles.sin().to(heads.scalar_type());
  const auto halves = heads.chunk(2, -1);
  return at::cat({halves[0] * cosine - halves[1] * sine, halves[1] * cosine + halves[0] * sine}, -1);
}

LlamaLayerImpl::LlamaLayerImpl(const LlamaShape& shape)
    : shape_(shape),
      rotary_(shape.head_width()),
      attention_norm_(register_module("attention_norm", RmsNorm(shape.hidden))),
      query_(register_module("query", linear(shape.hidden, shape.hidden))),
      key_(register_module("key", linear(shape.hidden, shape.kv_heads * shape.head_width()))),
      value_(register_module("value", linear(shape.hidden, shape.kv_heads * shape.head_width()))),
      attention_output_(register_module("attention_output", linear(shape.hidden, shape.hidden))),
      mlp_norm_(register_module("mlp_norm", RmsNorm(shape.hidden))),
      mlp_gate_(register_module("mlp_gate", linear(shape.hidden, shape.intermediate))),
      mlp_up_(register_module("mlp_up", linear(shape.hidden, shape.intermediate))),
      mlp_down_(register_module("mlp_down", linear(shape.intermediate, shape.hidden))) {}

void LlamaLayerImpl::initialize(int depth) {
  const double residual_deviation = kInitialDeviation / std::sqrt(2.0 * depth);
  for (const auto& item : named_modules()) {
    auto* matrix = item.value()->as<torch::nn::Linear>();
    if (matrix == nullptr) continue;
    const bool joins_residual = matrix == attention_output_.get() || matrix == mlp_down_.get();
    torch::nn::init::normal_(matrix->weight, 0, joins_residual ? residual_deviation : kInitialDeviation);
  }
}

at::Tensor LlamaLayerImpl::attention(const at::Tensor& input) {
  const auto batch = input.size(0);
  const auto length = input.size(1);
  const auto split = [&](const at::Tensor& joined, int heads) {
    return joined.view({batch, length, heads, shape_.head_width()}).transpose(1, 2);
  };
  // Each key and value head once for every query head that it serves: the fused kernels want as many.
  const auto share = [&](const at::Tensor& heads) {
    return heads.repeat_interleave(shape_.heads / shape_.kv_heads, 1);
  };
  const at::Tensor query = rotary_.turn(split(query_(input), shape_.heads));
  const at::Tensor key = share(rotary_.turn(split(key_(input), shape_.kv_heads)));
  const at::Tensor value = share(split(value_(input), shape_.kv_heads));
  const at::Tensor mixed = at::scaled_dot_product_attention(query, key, value, /*attn_mask=*/{},
                                                            /*dropout_p=*/0.0, /*is_causal=*/true);
  return attention_output_(mixed.transpose(1, 2).reshape({batch, length, shape_.hidden}));
}

at::Tensor LlamaLayerImpl::mlp(const at::Tensor& input) {
  return mlp_down_(at::silu(mlp_gate_(input)) * mlp_up_(input));
}

at::Tensor LlamaLayerImpl::forward(const at::Tensor& input) {
  const at::Tensor attended = input + attention(attention_norm_(input));
  return attended + mlp(mlp_norm_(attended));
}

}  // namespace lockstep::trainer

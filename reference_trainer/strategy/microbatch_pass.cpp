#include "reference_trainer/strategy/microbatch_pass.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/engine.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "reference_trainer/memory/allocations.h"
#include "reference_trainer/model/flops.h"
#include "reference_trainer/model/model.h"

namespace lockstep::trainer {
namespace {

void call(const std::function<void(int)>& hook, int part) {
  if (hook) hook(part);
}

void count_memory() {
  if (annotations::tool_attached())
    annotations::count("memory allocated", static_cast<double>(allocated_bytes()));
}

}  // namespace

MicrobatchPass::MicrobatchPass(const PassContext& context, int microbatch, int first, int last)
    : context_(context),
      microbatch_(microbatch),
      first_(first),
      last_(last),
      kept_(static_cast<std::size_t>(last - first + 1)) {}

bool MicrobatchPass::is_layer(int part) const {
  return part > 0 && part < context_.model.head();
}

ComputeLane::Range MicrobatchPass::range(Pass pass, int part, const at::Tensor& input, const char* suffix) {
  const std::string name = std::string(to_string(pass)) + " " + context_.model.name_of(part) + suffix;
  double flops = 0;
  if (is_layer(part) && context_.lane.paced())
    flops = layer_forward_flops(context_.model, part, input) * (pass == Pass::backward ? kBackwardFlops : 1);
  return context_.lane.compute(
      {pass, name, is_layer(part) ? part - 1 : annotations::kNoLayer, microbatch_, flops});
}

at::Tensor MicrobatchPass::compute(int part, const at::Tensor& input) {
  Model& model = context_.model;
  if (part == 0) return model.embed(input);
  return part == model.head() ? model.loss(input, targets_) : model.layer(part - 1, input);
}

// A slow rank's real work besides: as many sequences more as its faults say, and nothing comes of them.
void MicrobatchPass::compute_in_vain(int part, const at::Tensor& input) {
  const at::NoGradGuard no_gradient;
  auto sequences =
      std::llround(context_.lane.extra_forwards(microbatch_) * static_cast<double>(input.size(0)));
  while (sequences > 0) {
    const std::int64_t now = std::min<std::int64_t>(sequences, input.size(0));
    const auto repeated = range(Pass::forward, part, input, " (repeated)");
    compute(part, input.narrow(0, 0, now));
    sequences -= now;
  }
}

at::Tensor MicrobatchPass::forward_part(int part, const at::Tensor& input) {
  Kept& kept = kept_[static_cast<std::size_t>(part - first_)];
  kept.input = part == 0 ? input : input.detach().requires_grad_(true);
  call(context_.hooks.before_forward, part);
  const bool checkpoint = context_.checkpoint && is_layer(part);
  if (is_layer(part)) compute_in_vain(part, kept.input);
  at::Tensor output;
  {
    const at::AutoGradMode gradient(!checkpoint);
    const auto computing = range(Pass::forward, part, kept.input);
    output = compute(part, kept.input);
    if (part == context_.model.head()) loss_ = output.detach();
  }
  if (!checkpoint) kept.output = output;
  count_memory();
  call(context_.hooks.after_forward, part);
  return output;
}

double MicrobatchPass::loss() const {
  return loss_.defined() ? loss_.item<double>() : 0;
}

at::Tensor MicrobatchPass::forward(const at::Tensor& input, const at::Tensor& targets) {
  targets_ = targets;
  at::Tensor activation = input;
  for (int part = first_; part <= last_; ++part) activation = forward_part(part, activation);
  return last_ == context_.model.head() ? at::Tensor() : activation.detach();
}

at::Tensor MicrobatchPass::backward_part(int part, const at::Tensor& output_gradient, double loss_scale) {
  Kept kept = std::exchange(kept_[static_cast<std::size_t>(part - first_)], {});
  call(context_.hooks.before_backward, part);
  if (!kept.output.defined()) {
    const auto computing = range(Pass::recompute, part, kept.input);
    kept.output = compute(part, kept.input);
  }
  // A device waits by itself, and the host goes on.
  const bool waits = part == context_.waits_in_backward_of && !context_.lane.on_device();
  {
    auto computing = range(Pass::backward, part, kept.input);
    if (waits) {
      // Callbacks run in the order in which they were queued, when the part's graph is done; the Reducer
      // queues the one that waits when its last bucket is ready, which is after the gradient of the part's
      // output.
      kept.output.register_hook([&computing](const at::Tensor&) {
        torch::autograd::Engine::get_default_engine().queue_callback([&computing] {
          computing.end();
          annotations::push_phase("wait for gradients");
        });
      });
    }
    if (part == context_.model.head())
      torch::autograd::backward({kept.output * loss_scale}, {});
    else
      torch::autograd::backward({kept.output}, {output_gradient});
  }
  if (waits) annotations::pop();
  kept.output.reset();
  count_memory();
  call(context_.hooks.after_backward, part);
  return part == 0 ? at::Tensor() : kept.input.grad();
}

at::Tensor MicrobatchPass::backward(const at::Tensor& output_gradient, double loss_scale) {
  at::Tensor gradient = output_gradient;
  for (int part = last_; part >= first_; --part) gradient = backward_part(part, gradient, loss_scale);
  return gradient;
}

std::vector<at::Tensor> MicrobatchPass::outputs() const {
  std::vector<at::Tensor> outputs;
  for (const Kept& kept : kept_) {
    if (kept.output.defined()) outputs.push_back(kept.output);
  }
  return outputs;
}

}  // namespace lockstep::trainer

#include "reference_trainer/training/forward_backward.h"

#include <torch/csrc/autograd/engine.h>

#include <memory>
#include <string>
#include <utility>

#include "reference_trainer/instrumentation/annotations.h"
#include "reference_trainer/model/transformer.h"

namespace lockstep::trainer {
namespace {

using annotations::kNoLayer;
using annotations::Scope;

constexpr int kNoPart = -1;

// The compute ranges of a backward pass. Autograd runs a CPU graph on the thread that called backward(), the
// node made last first, so all that a part of the model needs comes before the next part's first node.
class BackwardRanges : public std::enable_shared_from_this<BackwardRanges> {
 public:
  BackwardRanges(int micro_step, bool reduces_gradients, std::function<void(int)> before_part)
      : micro_step_(micro_step),
        reduces_gradients_(reduces_gradients),
        before_part_(std::move(before_part)) {}

  // The part that made `activation` begins when the gradient of `activation` is complete.
  void begin_at(const at::Tensor& activation, std::string name, std::int64_t layer) {
    activation.register_hook([self = shared_from_this(), name = std::move(name), layer](const at::Tensor&) {
      self->next(name, layer);
    });
  }

  void begin() {
    if (before_part_) before_part_(kNoLayer);
    annotations::push_compute("backward head", kNoLayer, micro_step_);
  }

  // After backward() has returned.
  void end() {
    if (!ended_) close();  // a graph without activations to hook on
    if (reduces_gradients_) annotations::pop();
  }

 private:
  void next(const std::string& name, std::int64_t layer) {
    if (!end_queued_) {
      // Callbacks run in the order in which they were queued, when the whole graph is done. The Reducer
      // queues the one that waits when its last bucket is ready, and no bucket is before the first
      // activation's gradient.
      torch::autograd::Engine::get_default_engine().queue_callback(
          [self = shared_from_this()] { self->close(); });
      end_queued_ = true;
    }
    annotations::pop();
    if (before_part_ && layer != kNoLayer) before_part_(static_cast<int>(layer));
    annotations::push_compute(name, layer, micro_step_);
  }

  void close() {
    annotations::pop();
    ended_ = true;
    if (reduces_gradients_) annotations::push_phase("wait for gradients");
  }

  int micro_step_;
  bool reduces_gradients_;
  std::function<void(int)> before_part_;
  bool end_queued_ = false;
  bool ended_ = false;
};

std::string layer_name(const char* pass, int layer) {
  return std::string(pass) + " layer " + std::to_string(layer);
}

at::Tensor layer_forward(Transformer& model, int layer, const at::Tensor& input,
                         const MicroStep& micro_step) {
  for (int repetition = 1; repetition < micro_step.forward_repetitions; ++repetition) {
    const at::NoGradGuard no_gradient;
    const auto range = Scope::compute(layer_name("forward", layer) + " (repeated)", layer, micro_step.index);
    model.layer(layer, input);
  }
  const auto range = Scope::compute(layer_name("forward", layer), layer, micro_step.index);
  return model.layer(layer, input);
}

void call(const std::function<void(int)>& hook, int layer) {
  if (hook) hook(layer);
}

}  // namespace

double forward_backward(Transformer& model, const MicroStep& micro_step) {
  const PartHooks& parts = micro_step.parts;
  const auto ranges =
      std::make_shared<BackwardRanges>(micro_step.index, micro_step.reduces_gradients, parts.before_backward);
  // Without a tool or a hook nobody asks where one part ends and the next begins.
  const bool follow = annotations::tool_attached() || parts.before_backward;
  at::Tensor loss;
  double loss_value = 0;
  {
    const auto phase = Scope::phase("forward");
    at::Tensor hidden;
    call(parts.before_forward, kNoPart);
    {
      const auto range = Scope::compute("forward embedding", kNoLayer, micro_step.index);
      hidden = model.embed(micro_step.tokens);
    }
    if (follow) ranges->begin_at(hidden, "backward embedding", kNoLayer);
    for (int layer = 0; layer < model.layers(); ++layer) {
      call(parts.before_forward, layer);
      hidden = layer_forward(model, layer, hidden, micro_step);
      call(parts.after_forward, layer);
      if (follow) ranges->begin_at(hidden, layer_name("backward", layer), layer);
    }
    const auto range = Scope::compute("forward head", kNoLayer, micro_step.index);
    loss = model.loss(hidden, micro_step.targets);
    loss_value = loss.item<double>();
  }
  if (micro_step.between_passes) micro_step.between_passes();
  const auto phase = Scope::phase("backward");
  if (follow) ranges->begin();
  (loss * micro_step.loss_scale).backward();
  if (follow) ranges->end();
  return loss_value;
}

}  // namespace lockstep::trainer

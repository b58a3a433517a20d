#include "reference_trainer/modes/pipeline/pipeline_parallel.h"

#include <ATen/ops/empty.h>

#include <string>

#include "reference_trainer/distributed/gradient_mean.h"
#include "reference_trainer/model/model.h"
#include "reference_trainer/modes/pipeline/mode.h"
#include "reference_trainer/modes/pipeline/options.h"

namespace lockstep::trainer {

using annotations::Scope;

namespace {

constexpr std::uint64_t kPipelineGroup = 1, kCopiesGroup = 2;
// Of the gradients that copies of a stage reduce together: as data parallelism has it by default.
constexpr std::int64_t kBucketBytes = 4 << 20;

annotations::Group pipeline_group(const PipelinePlace& place) {
  const std::string name = "pipeline";
  return {kPipelineGroup, place.pipelines == 1 ? name : name + " " + std::to_string(place.pipeline),
          place.stage_ranks};
}

std::vector<at::Tensor> tensors_of(const std::vector<Parameter>& parameters) {
  std::vector<at::Tensor> tensors;
  for (const Parameter& parameter : parameters) tensors.push_back(parameter.tensor);
  return tensors;
}

}  // namespace

PipelineParallel::PipelineParallel(const StrategyContext& context)
    : context_(context),
      pass_context_(pass_context(context)),
      shape_(pipeline_shape(context.options, context.placement.world_size)),
      place_(pipeline_place(shape_, context.placement.world_size, context.placement.rank)),
      actions_(make_schedule(shape_, place_.stage)),
      weights_(keep_own_parameters(), context.options.model.precision),
      p2p_(*context.communicator, pipeline_group(place_)),
      mailbox_(p2p_, shape_, place_.stage, example()) {
  if (place_.pipelines == 1) return;
  annotations::Group group{kCopiesGroup, "data_parallel stage " + std::to_string(place_.stage),
                           place_.copies};
  copies_ = std::make_unique<CollectiveGroup>(*context.communicator, std::move(group));
}

std::vector<Parameter> PipelineParallel::keep_own_parameters() {
  Model& model = context_.model;
  const at::Tensor nothing =
      at::empty({0}, context_.device.options(compute_type(context_.options.model.precision)));
  std::vector<Parameter> own;
  for (int model_stage = 0; model_stage < shape_.model_stages(); ++model_stage) {
    const PartRange parts = parts_of_model_stage(shape_, model.layers(), model_stage);
    for (int part = parts.first; part <= parts.last; ++part) {
      for (const Parameter& parameter : model.parameters_of(part)) {
        if (model_stage % shape_.stages == place_.stage) {
          own.push_back(parameter);
        } else {
          at::Tensor(parameter.tensor).set_data(nothing);
        }
      }
    }
  }
  own_parameters_ = tensors_of(own);
  return own;
}

std::int64_t PipelineParallel::own_elements(std::int64_t) const {
  std::int64_t elements = 0;
  for (const at::Tensor& parameter : own_parameters_) elements += parameter.numel();
  return elements;
}

StateBytes PipelineParallel::theory(std::int64_t elements) const {
  return state_theory(own_elements(elements), context_.options.model.precision, shares());
}

at::Tensor PipelineParallel::example() const {
  const ModelOptions& model = context_.options.model;
  return at::empty({context_.options.training.batch_size, model.sequence_length, model.hidden},
                   context_.device.options(compute_type(model.precision)));
}

double PipelineParallel::run(BatchSource& batches) {
  context_.model.zero_grad();
  loss_ = 0;
  mailbox_.begin_step();
  std::vector<Event> sent;
  post_receive(actions_.front());
  const bool overlap = context_.options.own.get<PipelineOptions>().overlap_p2p;
  for (std::size_t i = 0; i < actions_.size(); ++i) {
    const Action& action = actions_[i];
    const bool last = i + 1 == actions_.size();
    if (overlap && !last) post_receive(actions_[i + 1]);
    const at::Tensor made =
        action.kind == Action::Kind::forward ? forward(action, batches) : backward(action);
    if (const auto output = output_of(shape_, place_.stage, action))
      sent.push_back(p2p_.send(name_of(shape_, output->message), made.contiguous(), output->peer));
    if (!overlap && !last) post_receive(actions_[i + 1]);
  }
  for (const Event& event : sent) event.wait();
  if (copies_) {
    const auto phase = Scope::phase("wait for gradients");
    average_gradients(*copies_, own_parameters_, kBucketBytes);
  }
  return loss_ / shape_.microbatches / place_.pipelines;
}

void PipelineParallel::post_receive(const Action& action) {
  if (const auto input = input_of(shape_, place_.stage, action)) mailbox_.post(*input);
}

at::Tensor PipelineParallel::receive(const Action& action) {
  const auto input = input_of(shape_, place_.stage, action);
  return input ? mailbox_.take(*input) : at::Tensor();
}

at::Tensor PipelineParallel::forward(const Action& action, BatchSource& batches) {
  const int model_stage = action.chunk * shape_.stages + place_.stage;
  const PartRange parts = parts_of_model_stage(shape_, context_.model.layers(), model_stage);
  // The first stage needs tokens, the last one what comes after them; those between see no text.
  Batch batch;
  if (model_stage == 0 || model_stage + 1 == shape_.model_stages()) batch = batches.next();
  const at::Tensor received = receive(action);
  const auto phase = Scope::phase("forward");
  MicrobatchPass& pass = passes_
                             .try_emplace({action.chunk, action.microbatch}, pass_context_, action.microbatch,
                                          parts.first, parts.last)
                             .first->second;
  return pass.forward(model_stage == 0 ? batch.tokens : received, batch.targets);
}

at::Tensor PipelineParallel::backward(const Action& action) {
  const at::Tensor received = receive(action);
  const auto phase = Scope::phase("backward");
  auto pass = passes_.extract({action.chunk, action.microbatch});
  const at::Tensor made = pass.mapped().backward(received, 1.0 / shape_.microbatches);
  loss_ += pass.mapped().loss();
  return made;
}

std::unique_ptr<Strategy> Pipeline::make(const StrategyContext& context) {
  return std::make_unique<PipelineParallel>(context);
}

}  // namespace lockstep::trainer

#include "reference_trainer/modes/pipeline/messages.h"

namespace lockstep::trainer {

using Kind = Message::Kind;

std::optional<Transfer> input_of(const PipelineShape& shape, int stage, const Action& action) {
  const int model_stage = action.chunk * shape.stages + stage;
  const bool forward = action.kind == Action::Kind::forward;
  const int source = forward ? model_stage - 1 : model_stage + 1;
  if (source < 0 || source == shape.model_stages()) return std::nullopt;
  return Transfer{{forward ? Kind::activation : Kind::gradient, action.microbatch, model_stage},
                  source % shape.stages};
}

std::optional<Transfer> output_of(const PipelineShape& shape, int stage, const Action& action) {
  const int model_stage = action.chunk * shape.stages + stage;
  const bool forward = action.kind == Action::Kind::forward;
  const int destination = forward ? model_stage + 1 : model_stage - 1;
  if (destination < 0 || destination == shape.model_stages()) return std::nullopt;
  return Transfer{{forward ? Kind::activation : Kind::gradient, action.microbatch, destination},
                  destination % shape.stages};
}

std::vector<Message> messages_between(const PipelineShape& shape, int from, int to) {
  std::vector<Message> messages;
  for (const Action& action : make_schedule(shape, from)) {
    const std::optional<Transfer> output = output_of(shape, from, action);
    if (output && output->peer == to) messages.push_back(output->message);
  }
  return messages;
}

std::string name_of(const PipelineShape& shape, const Message& message) {
  std::string name = message.kind == Kind::activation ? "activation " : "gradient ";
  name += std::to_string(message.microbatch);
  if (shape.chunks > 1) name += " chunk " + std::to_string(message.model_stage / shape.stages);
  return name;
}

}  // namespace lockstep::trainer

// What the stages of a pipeline send each other: the activation that goes with each microbatch from one model
// stage to the next, and the gradient of it that comes back.
//
// Two ranks may have messages of both kinds for each other, and of several chunks (with two stages, every
// message is between the same two). They travel in the order in which the sender's schedule makes them, so
// both sides know that order without asking.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "reference_trainer/modes/pipeline/schedule.h"

namespace lockstep::trainer {

struct Message {
  enum class Kind { activation, gradient };
  Kind kind = Kind::activation;
  int microbatch = 0;
  int model_stage = 0;  // that it is for

  auto operator<=>(const Message&) const = default;
};

struct Transfer {
  Message message;
  int peer = 0;  // stage of the other side

  bool operator==(const Transfer&) const = default;
};

// What the rank at `stage` must have received for this action, and from whom. Nothing for the forward of the
// first model stage and the backward of the last one.
std::optional<Transfer> input_of(const PipelineShape& shape, int stage, const Action& action);
// What the action makes, and for whom.
std::optional<Transfer> output_of(const PipelineShape& shape, int stage, const Action& action);

// All messages of a step from one stage to another, in order.
std::vector<Message> messages_between(const PipelineShape& shape, int from, int to);

// "activation 3"; with several chunks "activation 3 chunk 1", the chunk of the receiver.
std::string name_of(const PipelineShape& shape, const Message& message);

}  // namespace lockstep::trainer

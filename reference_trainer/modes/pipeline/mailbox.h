// What a stage receives: the messages of one step from each other stage, received in the order in which they
// are sent, and taken in the order in which they are needed.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <map>
#include <vector>

#include "reference_trainer/modes/pipeline/messages.h"
#include "reference_trainer/streams/stream.h"

namespace lockstep::trainer {

class P2pGroup;

class Mailbox {
 public:
  // Every message has the shape and type of `example`. Ranks of `group` are stages.
  Mailbox(P2pGroup& group, const PipelineShape& shape, int stage, at::Tensor example);

  // Posts the receive of this message of this step, and of those that the same sender sends before it, unless
  // they are posted.
  void post(const Transfer& transfer);
  // Waits for a message that was posted, and hands it over.
  at::Tensor take(const Transfer& transfer);
  // Forgets the step, all of whose messages were taken.
  void begin_step();

 private:
  struct Arrival {
    at::Tensor tensor;
    Event arrived;
  };
  struct Sender {
    std::vector<Message> messages;  // in order
    std::size_t posted = 0;
    std::map<Message, Arrival> arrivals;  // posted, not taken
  };

  P2pGroup& group_;
  PipelineShape shape_;
  at::Tensor example_;
  std::vector<Sender> senders_;  // by stage
};

}  // namespace lockstep::trainer

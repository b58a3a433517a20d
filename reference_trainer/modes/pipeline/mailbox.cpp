#include "reference_trainer/modes/pipeline/mailbox.h"

#include <ATen/ops/empty_like.h>

#include <utility>

#include "reference_trainer/distributed/p2p_group.h"
#include "reference_trainer/instrumentation/annotations.h"

namespace lockstep::trainer {

Mailbox::Mailbox(P2pGroup& group, const PipelineShape& shape, int stage, at::Tensor example)
    : group_(group), shape_(shape), example_(std::move(example)) {
  for (int peer = 0; peer < shape.stages; ++peer)
    senders_.push_back({messages_between(shape, peer, stage), 0, {}});
}

void Mailbox::begin_step() {
  for (Sender& sender : senders_) sender.posted = 0;
}

void Mailbox::post(const Transfer& transfer) {
  Sender& sender = senders_[static_cast<std::size_t>(transfer.peer)];
  const auto behind = [&] {
    return sender.arrivals.contains(transfer.message) || sender.posted == sender.messages.size();
  };
  while (!behind()) {
    const Message& message = sender.messages[sender.posted++];
    at::Tensor tensor = at::empty_like(example_);
    Event arrived = group_.recv(name_of(shape_, message), tensor, transfer.peer);
    sender.arrivals.emplace(message, Arrival{std::move(tensor), std::move(arrived)});
  }
}

at::Tensor Mailbox::take(const Transfer& transfer) {
  auto taken = senders_[static_cast<std::size_t>(transfer.peer)].arrivals.extract(transfer.message);
  const auto range = annotations::Scope::phase("wait for " + name_of(shape_, transfer.message));
  taken.mapped().arrived.wait();
  return std::move(taken.mapped().tensor);
}

}  // namespace lockstep::trainer

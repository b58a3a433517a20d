// A transport whose sends are held to a rate, for the planted fault slow_link: a message is handed on when
// the link would have carried its last byte. Receives are as they are.
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "reference_trainer/faults/rank_faults.h"

namespace lockstep::trainer {

class SlowLink : public c10d::Backend {
 public:
  // `faults` must live as long as this.
  SlowLink(c10::intrusive_ptr<c10d::Backend> transport, const RankFaults& faults);

  const std::string getBackendName() const override { return transport_->getBackendName(); }
  // Blocks for the time on the link.
  c10::intrusive_ptr<c10d::Work> send(std::vector<at::Tensor>& tensors, int to, int tag) override;
  c10::intrusive_ptr<c10d::Work> recv(std::vector<at::Tensor>& tensors, int from, int tag) override {
    return transport_->recv(tensors, from, tag);
  }

 private:
  c10::intrusive_ptr<c10d::Backend> transport_;
  const RankFaults& faults_;
};

}  // namespace lockstep::trainer

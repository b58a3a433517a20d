// Gloo for tensors of an accelerator: each goes through the host's memory. For runs of several ranks on one
// GPU, and where there is no NCCL; it shows that a job works, not how fast it could be.
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

namespace lockstep::trainer {

class StagedBackend : public c10d::Backend {
 public:
  // `inner`: knows the host's memory alone.
  explicit StagedBackend(c10::intrusive_ptr<c10d::Backend> inner);

  const std::string getBackendName() const override { return inner_->getBackendName(); }
  // Copies run on the calling thread's current stream: to the host at once, back in Work::wait().
  c10::intrusive_ptr<c10d::Work> send(std::vector<at::Tensor>& tensors, int to, int tag) override;
  c10::intrusive_ptr<c10d::Work> recv(std::vector<at::Tensor>& tensors, int from, int tag) override;
  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors,
                                           const c10d::AllreduceOptions& options) override;
  c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor>& tensors,
                                           const c10d::BroadcastOptions& options) override;

 private:
  c10::intrusive_ptr<c10d::Backend> inner_;
};

}  // namespace lockstep::trainer

// A c10d backend for tensors of an accelerator: hands each operation on to another one on a communication
// stream, so that c10d's Reducer overlaps it with backward, and tells NVTX when it was issued and when it
// ran.
#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <mutex>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "reference_trainer/distributed/operation_numbers.h"
#include "reference_trainer/streams/stream.h"

namespace lockstep::trainer {

class StreamBackend : public c10d::Backend {
 public:
  // `inner`: runs an operation with asyncOp=false on the current stream (NCCL), or gives a Work to wait for.
  StreamBackend(c10::intrusive_ptr<c10d::Backend> inner, const annotations::Group& group,
                std::unique_ptr<Stream> stream, c10::Device device);
  ~StreamBackend() override;

  void set_purpose(Purpose purpose);
  Traffic traffic(Purpose purpose) const;

  const std::string getBackendName() const override { return inner_->getBackendName(); }
  void setTimeout(std::chrono::milliseconds timeout) override { inner_->setTimeout(timeout); }

  // The Work's wait() makes the caller's current stream wait.
  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors,
                                           const c10d::AllreduceOptions& options) override;
  c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor>& tensors,
                                           const c10d::BroadcastOptions& options) override;

 private:
  // `call` gives the inner backend's Work.
  template <class Call>
  c10::intrusive_ptr<c10d::Work> issue(const annotations::Collective& operation,
                                       const std::vector<at::Tensor>& tensors, Call call);

  c10::intrusive_ptr<c10d::Backend> inner_;
  std::vector<int> ranks_;
  c10::Device device_;
  mutable std::mutex mutex_;  // issuing and numbering are one step
  OperationNumbers numbers_;
  std::unique_ptr<Stream> stream_;  // last: it uses the others
};

}  // namespace lockstep::trainer

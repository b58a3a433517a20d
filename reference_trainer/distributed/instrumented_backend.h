// A c10d backend that hands every collective on to another one (Gloo) and tells NVTX three things about it:
// that it was issued, on the calling thread; its true interval, on the worker thread that runs it; and its
// descriptor.
//
// How the interval is had: Gloo wraps the execution of each operation in an at::RecordFunction named
// "gloo:all_reduce" and so on. A global callback for these, registered only where a tool is attached, the
// device paced or a fault planted, opens and closes the NVTX range on the worker, and holds the worker on the
// paced device. One worker thread serves a first-in-first-out queue, so the operation that begins is the
// oldest issued one.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "reference_trainer/distributed/operation_numbers.h"
#include "reference_trainer/instrumentation/annotations.h"
#include "reference_trainer/options/options.h"

namespace lockstep::trainer {

class RankFaults;

class InstrumentedBackend : public c10d::Backend {
 public:
  // `inner` must run its operations on a single worker thread. `ranks` are the global ranks of the group.
  // `pace`: how long an operation takes at least; so for `faults`, which must live as long as this.
  InstrumentedBackend(c10::intrusive_ptr<c10d::Backend> inner, annotations::Group group,
                      const PaceOptions& pace, RankFaults& faults);

  void set_purpose(Purpose purpose);
  Traffic traffic(Purpose purpose) const;

  const std::string getBackendName() const override { return inner_->getBackendName(); }
  void setTimeout(std::chrono::milliseconds timeout) override { inner_->setTimeout(timeout); }
  c10::intrusive_ptr<Options> getBackendOptions() override { return inner_->getBackendOptions(); }

  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors,
                                           const c10d::AllreduceOptions& options) override;
  c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor>& tensors,
                                           const c10d::BroadcastOptions& options) override;
  c10::intrusive_ptr<c10d::Work> allgather(std::vector<std::vector<at::Tensor>>& outputs,
                                           std::vector<at::Tensor>& inputs,
                                           const c10d::AllgatherOptions& options) override;
  c10::intrusive_ptr<c10d::Work> barrier(const c10d::BarrierOptions& options) override;

 private:
  // Whether begin and end of operations on the worker matter to anyone.
  bool is_observed() const;
  c10::intrusive_ptr<c10d::Work> leave_out(const std::vector<at::Tensor>& tensors);
  template <class Call>
  c10::intrusive_ptr<c10d::Work> issue(trace::Operation kind, const std::vector<at::Tensor>& tensors,
                                       std::uint64_t bytes, std::int64_t peer, const Call& call);

  c10::intrusive_ptr<c10d::Backend> inner_;
  annotations::Group group_;
  OperationNumbers numbers_;
  PaceOptions pace_;
  RankFaults& faults_;
  mutable std::mutex mutex_;  // issuing and numbering are one step
};

}  // namespace lockstep::trainer

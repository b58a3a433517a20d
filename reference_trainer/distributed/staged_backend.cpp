#include "reference_trainer/distributed/staged_backend.h"

#include <utility>

namespace lockstep::trainer {
namespace {

using Tensors = std::vector<at::Tensor>;

Tensors on_host(const Tensors& tensors) {
  Tensors copies;
  for (const at::Tensor& tensor : tensors) copies.push_back(tensor.to(at::kCPU));
  return copies;
}

// What the inner backend does with copies on the host, which go back at the end.
class StagedWork : public c10d::Work {
 public:
  StagedWork(c10::intrusive_ptr<c10d::Work> inner, Tensors host, Tensors device)
      : inner_(std::move(inner)), host_(std::move(host)), device_(std::move(device)) {}

  bool wait(std::chrono::milliseconds timeout) override {
    if (!inner_->wait(timeout)) return false;
    for (std::size_t i = 0; i < device_.size(); ++i) device_[i].copy_(host_[i]);
    return true;
  }
  void abort() override { inner_->abort(); }

 private:
  c10::intrusive_ptr<c10d::Work> inner_;
  Tensors host_;    // alive until the transfer is through
  Tensors device_;  // to fill; none for a send
};

}  // namespace

StagedBackend::StagedBackend(c10::intrusive_ptr<c10d::Backend> inner)
    : c10d::Backend(inner->getRank(), inner->getSize()), inner_(std::move(inner)) {}

c10::intrusive_ptr<c10d::Work> StagedBackend::send(Tensors& tensors, int to, int tag) {
  Tensors host = on_host(tensors);
  auto work = inner_->send(host, to, tag);
  return c10::make_intrusive<StagedWork>(std::move(work), std::move(host), Tensors{});
}

c10::intrusive_ptr<c10d::Work> StagedBackend::recv(Tensors& tensors, int from, int tag) {
  Tensors host;
  for (const at::Tensor& tensor : tensors)
    host.push_back(at::empty(tensor.sizes(), tensor.options().device(at::kCPU)));
  auto work = inner_->recv(host, from, tag);
  return c10::make_intrusive<StagedWork>(std::move(work), std::move(host), tensors);
}

c10::intrusive_ptr<c10d::Work> StagedBackend::allreduce(Tensors& tensors,
                                                        const c10d::AllreduceOptions& options) {
  Tensors host = on_host(tensors);
  auto work = inner_->allreduce(host, options);
  return c10::make_intrusive<StagedWork>(std::move(work), std::move(host), tensors);
}

c10::intrusive_ptr<c10d::Work> StagedBackend::broadcast(Tensors& tensors,
                                                        const c10d::BroadcastOptions& options) {
  Tensors host = on_host(tensors);
  auto work = inner_->broadcast(host, options);
  return c10::make_intrusive<StagedWork>(std::move(work), std::move(host), tensors);
}

}  // namespace lockstep::trainer

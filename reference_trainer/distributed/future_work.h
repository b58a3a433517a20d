// A c10d operation that is done when a future is. Unlike Work::create_from_future's, its wait() throws what
// went wrong: that one returns as if all were well.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <utility>

namespace lockstep::trainer {

class FutureWork : public c10d::Work {
 public:
  explicit FutureWork(c10::intrusive_ptr<c10::ivalue::Future> future) : future_(std::move(future)) {}

  bool isCompleted() override { return future_->completed(); }
  bool isSuccess() const override { return future_->completed() && !future_->hasError(); }
  std::exception_ptr exception() const override { return future_->exception_ptr(); }
  bool wait(std::chrono::milliseconds) override {
    future_->waitAndThrow();
    return true;
  }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

 private:
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

}  // namespace lockstep::trainer

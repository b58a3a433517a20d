#include "reference_trainer/distributed/instrumented_backend.h"

#include <ATen/ops/zeros.h>
#include <ATen/record_function.h>

#include <deque>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "reference_trainer/device/pacing.h"
#include "reference_trainer/distributed/future_work.h"
#include "reference_trainer/faults/rank_faults.h"

namespace lockstep::trainer {
namespace {

struct IssuedOperation {
  annotations::Collective what;
  std::int64_t modelled_ns = 0;     // holds the worker so long at its end
  std::chrono::nanoseconds held{};  // and so long at its begin: a slow link
  bool left_out = false;            // something else runs in its place
};

// Issued operations that have not begun. One queue for the process: it has one group and one worker.
class IssuedOperations {
 public:
  // Calls `hand_over`, which hands the operation to the worker and returns what to do at its end. The worker
  // does not begin before that is known.
  template <class HandOver>
  auto issue(IssuedOperation operation, const HandOver& hand_over) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(operation));
    return hand_over();
  }
  // False where nothing was issued: an operation that did not come through InstrumentedBackend.
  bool pop(IssuedOperation& operation) {
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) return false;
    operation = std::move(queue_.front());
    queue_.pop_front();
    return true;
  }

 private:
  std::mutex mutex_;
  std::deque<IssuedOperation> queue_;
};

IssuedOperations& issued_operations() {
  static IssuedOperations operations;
  return operations;
}

// Whether the calling thread, a worker, has an open range of the operation that it runs.
thread_local bool range_open = false;
thread_local std::int64_t modelled_ns = 0;

void close_range() {
  if (!range_open) return;
  range_open = false;
  // Now the operation is through, so all have arrived: a modelled network would only begin.
  if (modelled_ns > 0) sleep_until(monotonic_ns() + modelled_ns);
  annotations::pop();
}

std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction& function) {
  if (!std::string_view(function.name()).starts_with("gloo:")) return nullptr;
  thread_local const bool named = (annotations::name_this_thread("gloo"), true);
  static_cast<void>(named);
  IssuedOperation operation;
  if (!issued_operations().pop(operation) || operation.left_out) return nullptr;
  annotations::push_collective(operation.what);
  modelled_ns = operation.modelled_ns;
  range_open = true;
  std::this_thread::sleep_for(operation.held);
  return nullptr;
}

// Gloo completes the operation's future before it ends the RecordFunction: whoever waits may go on, and the
// worker lose its core, while the range is still open. So the range is closed at the completion of the
// future, and what is handed to those who wait is a second future, completed after that.
c10::intrusive_ptr<c10d::Work> close_range_before_waiters(const c10::intrusive_ptr<c10d::Work>& work) {
  const auto future = work->getFuture();
  const auto after = future->then(
      [](c10::ivalue::Future& done) {
        close_range();
        return done.value();
      },
      future->elementType());
  return c10::make_intrusive<FutureWork>(after);
}

void on_end(const at::RecordFunction&, at::ObserverContext*) {
  close_range();
}

void observe_worker() {
  static const at::CallbackHandle once = at::addGlobalCallback(
      at::RecordFunctionCallback(on_begin, on_end).scopes({at::RecordScope::USER_SCOPE}));
  static_cast<void>(once);
}

// What one rank sends, where the algorithms are rings: the bytes that a slow link carries.
std::int64_t bytes_sent(trace::Operation operation, std::uint64_t bytes, int ranks) {
  const auto share = static_cast<std::int64_t>(bytes) * (ranks - 1) / ranks;
  return operation == trace::Operation::all_reduce ? 2 * share : share;
}

}  // namespace

InstrumentedBackend::InstrumentedBackend(c10::intrusive_ptr<c10d::Backend> inner, annotations::Group group,
                                         const PaceOptions& pace, RankFaults& faults)
    : c10d::Backend(inner->getRank(), inner->getSize()),
      inner_(std::move(inner)),
      group_(std::move(group)),
      numbers_(group_.id),
      pace_(pace),
      faults_(faults) {
  annotations::declare_group(group_);
  if (is_observed()) observe_worker();
}

bool InstrumentedBackend::is_observed() const {
  return annotations::tool_attached() || pace_.bytes_per_second > 0 || pace_.latency_us > 0 ||
         faults_.slows_links() || faults_.skips_collectives();
}

void InstrumentedBackend::set_purpose(Purpose purpose) {
  const std::lock_guard lock(mutex_);
  numbers_.set_purpose(purpose);
}

Traffic InstrumentedBackend::traffic(Purpose purpose) const {
  const std::lock_guard lock(mutex_);
  return numbers_.traffic(purpose);
}

template <class Call>
c10::intrusive_ptr<c10d::Work> InstrumentedBackend::issue(trace::Operation kind,
                                                          const std::vector<at::Tensor>& tensors,
                                                          std::uint64_t bytes, std::int64_t peer,
                                                          const Call& call) {
  const std::lock_guard lock(mutex_);
  const annotations::Collective operation = numbers_.next(kind, tensors, bytes, peer);
  if (!is_observed()) return call();
  const auto range = annotations::Scope::issue(operation);
  // The loss and other single numbers are free.
  const bool modelled = numbers_.purpose() == Purpose::gradients;
  return issued_operations().issue(
      {.what = operation,
       .modelled_ns = modelled ? modelled_transfer_ns(pace_, kind, bytes, getSize()) : 0,
       .held = faults_.sending_time(bytes_sent(kind, bytes, getSize()))},
      [&] { return close_range_before_waiters(call()); });
}

// Gloo numbers the operations of a group by itself, so the others' operation would meet the next one of this
// rank. A broadcast that nobody takes part in has the number of the one left out; the caller goes on at once,
// with what it had.
c10::intrusive_ptr<c10d::Work> InstrumentedBackend::leave_out(const std::vector<at::Tensor>& tensors) {
  const std::lock_guard lock(mutex_);
  numbers_.skip();
  std::vector<at::Tensor> nothing{at::zeros({1})};
  c10d::BroadcastOptions from_here;
  from_here.rootRank = getRank();
  issued_operations().issue({.what = {}, .left_out = true},
                            [&] { return inner_->broadcast(nothing, from_here); });
  auto done = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
  done->markCompleted(c10::IValue(tensors));
  return c10::make_intrusive<FutureWork>(done);
}

c10::intrusive_ptr<c10d::Work> InstrumentedBackend::allreduce(std::vector<at::Tensor>& tensors,
                                                              const c10d::AllreduceOptions& options) {
  if (faults_.skip_collective()) return leave_out(tensors);
  return issue(trace::Operation::all_reduce, tensors, bytes_of(tensors), /*peer=*/-1,
               [&] { return inner_->allreduce(tensors, options); });
}

c10::intrusive_ptr<c10d::Work> InstrumentedBackend::broadcast(std::vector<at::Tensor>& tensors,
                                                              const c10d::BroadcastOptions& options) {
  const auto root = group_.ranks[static_cast<std::size_t>(options.rootRank)];
  return issue(trace::Operation::broadcast, tensors, bytes_of(tensors), root,
               [&] { return inner_->broadcast(tensors, options); });
}

c10::intrusive_ptr<c10d::Work> InstrumentedBackend::allgather(std::vector<std::vector<at::Tensor>>& outputs,
                                                              std::vector<at::Tensor>& inputs,
                                                              const c10d::AllgatherOptions& options) {
  const std::uint64_t bytes = bytes_of(inputs) * static_cast<std::uint64_t>(getSize());
  return issue(trace::Operation::all_gather, inputs, bytes, /*peer=*/-1,
               [&] { return inner_->allgather(outputs, inputs, options); });
}

c10::intrusive_ptr<c10d::Work> InstrumentedBackend::barrier(const c10d::BarrierOptions& options) {
  return issue(trace::Operation::barrier, {}, /*bytes=*/0, /*peer=*/-1,
               [&] { return inner_->barrier(options); });
}

}  // namespace lockstep::trainer

#include "reference_trainer/distributed/stream_backend.h"

#include <utility>

#include "reference_trainer/distributed/future_work.h"

namespace lockstep::trainer {

StreamBackend::StreamBackend(c10::intrusive_ptr<c10d::Backend> inner, const annotations::Group& group,
                             std::unique_ptr<Stream> stream, c10::Device device)
    : c10d::Backend(inner->getRank(), inner->getSize()),
      inner_(std::move(inner)),
      ranks_(group.ranks),
      device_(device),
      numbers_(group.id),
      stream_(std::move(stream)) {
  annotations::declare_group(group);
}

StreamBackend::~StreamBackend() = default;

void StreamBackend::set_purpose(Purpose purpose) {
  const std::lock_guard lock(mutex_);
  numbers_.set_purpose(purpose);
}

Traffic StreamBackend::traffic(Purpose purpose) const {
  const std::lock_guard lock(mutex_);
  return numbers_.traffic(purpose);
}

template <class Call>
c10::intrusive_ptr<c10d::Work> StreamBackend::issue(const annotations::Collective& operation,
                                                    const std::vector<at::Tensor>& tensors, Call call) {
  // Completed on the communication stream: whoever waits for it has their own stream wait for that one.
  auto future = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()),
                                                         std::vector<c10::Device>{device_});
  const auto range = annotations::Scope::issue(operation);
  stream_->enqueue(
      {.run =
           [future, tensors = std::vector<at::Tensor>(tensors), call = std::move(call)]() mutable {
             try {
               if (const auto work = call(tensors)) work->wait();
               future->markCompleted(c10::IValue(tensors));
             } catch (...) {
               future->setErrorIfNeeded(std::current_exception());
               throw;
             }
           },
       .open = [operation] { annotations::push_collective(operation); }});
  return c10::make_intrusive<FutureWork>(future);
}

c10::intrusive_ptr<c10d::Work> StreamBackend::allreduce(std::vector<at::Tensor>& tensors,
                                                        const c10d::AllreduceOptions& options) {
  const std::lock_guard lock(mutex_);
  c10d::AllreduceOptions in_place = options;
  in_place.asyncOp = false;
  return issue(
      numbers_.next(trace::Operation::all_reduce, tensors, bytes_of(tensors)), tensors,
      [inner = inner_, in_place](std::vector<at::Tensor>& of) { return inner->allreduce(of, in_place); });
}

c10::intrusive_ptr<c10d::Work> StreamBackend::broadcast(std::vector<at::Tensor>& tensors,
                                                        const c10d::BroadcastOptions& options) {
  const std::lock_guard lock(mutex_);
  c10d::BroadcastOptions in_place = options;
  in_place.asyncOp = false;
  const int root = ranks_[static_cast<std::size_t>(options.rootRank)];
  return issue(
      numbers_.next(trace::Operation::broadcast, tensors, bytes_of(tensors), root), tensors,
      [inner = inner_, in_place](std::vector<at::Tensor>& of) { return inner->broadcast(of, in_place); });
}

}  // namespace lockstep::trainer

#include "reference_trainer/distributed/p2p_group.h"

#include <stdexcept>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "reference_trainer/device/pacing.h"
#include "reference_trainer/distributed/communicator.h"
#include "reference_trainer/distributed/data_type.h"
#include "reference_trainer/distributed/failure.h"

namespace lockstep::trainer {
namespace {

constexpr int kTag = 0;

}  // namespace

P2pGroup::P2pGroup(Communicator& communicator, annotations::Group group)
    : communicator_(communicator),
      transport_(communicator.connections().transport(group.name, group.ranks)),
      group_(std::move(group)),
      pace_(communicator.pace()) {
  annotations::declare_group(group_);
}

P2pGroup::~P2pGroup() {
  const std::lock_guard lock(mutex_);
  giving_up_ = true;
  for (c10d::Work* const work : under_way_) work->abort();
}

Event P2pGroup::send(const std::string& what, const at::Tensor& tensor, int peer) {
  return issue(Direction::send, what, tensor, peer);
}

Event P2pGroup::recv(const std::string& what, const at::Tensor& tensor, int peer) {
  return issue(Direction::recv, what, tensor, peer);
}

Stream& P2pGroup::stream_of(Direction direction, int peer) {
  std::unique_ptr<Stream>& stream = streams_[{direction, peer}];
  if (!stream) {
    const int rank = group_.ranks[static_cast<std::size_t>(peer)];
    stream = communicator_.connections().make_stream(
        (direction == Direction::send ? "send to rank " : "recv from rank ") + std::to_string(rank));
  }
  return *stream;
}

Event P2pGroup::issue(Direction direction, const std::string& what, const at::Tensor& tensor, int peer) {
  const annotations::Collective operation{
      .name = (direction == Direction::send ? "send " : "recv ") + what,
      .group = group_.id,
      .sequence = next_sequence_++,
      .bytes = tensor.nbytes(),
      .operation = direction,
      .data_type = data_type_of(tensor),
      .peer = group_.ranks[static_cast<std::size_t>(peer)],
  };
  const auto range = annotations::Scope::issue(operation);
  return stream_of(direction, peer)
      .enqueue({.run =
                    [this, direction, tensor, peer, name = operation.name, rank = operation.peer] {
                      const char* const way = direction == Direction::send ? " to rank " : " from rank ";
                      naming(name + way + std::to_string(rank), [&] { transfer(direction, tensor, peer); });
                    },
                .open = [operation] { annotations::push_collective(operation); }});
}

// A transfer that the destructor can give up.
class P2pGroup::UnderWay {
 public:
  UnderWay(P2pGroup& group, c10d::Work& work) : group_(group), work_(work) {
    const std::lock_guard lock(group_.mutex_);
    group_.under_way_.insert(&work_);
    if (group_.giving_up_) work_.abort();
  }
  ~UnderWay() {
    const std::lock_guard lock(group_.mutex_);
    group_.under_way_.erase(&work_);
  }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

 private:
  P2pGroup& group_;
  c10d::Work& work_;
};

void P2pGroup::transfer(Direction direction, at::Tensor tensor, int peer) {
  std::vector<at::Tensor> tensors{std::move(tensor)};
  const c10::intrusive_ptr<c10d::Work> work = direction == Direction::send
                                                  ? transport_->send(tensors, peer, kTag)
                                                  : transport_->recv(tensors, peer, kTag);
  const UnderWay under_way(*this, *work);
  // What is under way after an abort() ends without an exception of c10d's.
  if (!work->wait()) throw std::runtime_error("the transfer was given up");
  // Both sides are there now: a modelled network would only begin.
  const std::uint64_t bytes = tensors.front().nbytes();
  if (const std::int64_t modelled = modelled_transfer_ns(pace_, direction, bytes, /*size=*/2))
    sleep_until(monotonic_ns() + modelled);
}

}  // namespace lockstep::trainer

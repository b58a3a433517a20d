#include "reference_trainer/distributed/sharding_group.h"

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <utility>

#include "reference_trainer/distributed/communicator.h"
#include "reference_trainer/distributed/data_type.h"
#include "reference_trainer/distributed/ring.h"

namespace lockstep::trainer {

ShardingGroup::ShardingGroup(Communicator& communicator, annotations::Group group)
    : transport_(communicator.connect(group.name)), group_(std::move(group)), stream_("sharding") {
  annotations::declare_group(group_);
}

ShardingGroup::~ShardingGroup() = default;

int ShardingGroup::rank() const {
  return transport_->getRank();
}

int ShardingGroup::size() const {
  return transport_->getSize();
}

Event ShardingGroup::all_gather(const std::string& what, const at::Tensor& whole) {
  ++gathered_.operations;
  gathered_.bytes += whole.nbytes();
  return issue({.name = "all_gather " + what, .operation = trace::Operation::all_gather}, whole,
               ring_all_gather);
}

Event ShardingGroup::reduce_scatter(const std::string& what, const at::Tensor& whole) {
  ++scattered_.operations;
  scattered_.bytes += whole.nbytes();
  return issue({.name = "reduce_scatter " + what, .operation = trace::Operation::reduce_scatter}, whole,
               ring_reduce_scatter);
}

Event ShardingGroup::issue(annotations::Collective operation, const at::Tensor& whole,
                           void (*run)(c10d::Backend&, at::Tensor)) {
  operation.group = group_.id;
  operation.sequence = next_sequence_++;
  operation.bytes = whole.nbytes();
  operation.data_type = data_type_of(whole);
  const auto range = annotations::Scope::issue(operation);
  return stream_.enqueue([this, operation = std::move(operation), whole, run] {
    const auto collective = annotations::Scope::collective(operation);
    run(*transport_, whole);
  });
}

}  // namespace lockstep::trainer

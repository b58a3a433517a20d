#include "reference_trainer/distributed/collective_group.h"

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <utility>

#include "reference_trainer/device/pacing.h"
#include "reference_trainer/distributed/communicator.h"
#include "reference_trainer/distributed/data_type.h"
#include "reference_trainer/distributed/ring.h"

namespace lockstep::trainer {

CollectiveGroup::CollectiveGroup(Communicator& communicator, annotations::Group group)
    : transport_(communicator.connect(group.name, group.ranks)),
      group_(std::move(group)),
      pace_(communicator.pace()),
      stream_(group_.name) {
  annotations::declare_group(group_);
}

CollectiveGroup::~CollectiveGroup() = default;

int CollectiveGroup::rank() const {
  return transport_->getRank();
}

int CollectiveGroup::size() const {
  return transport_->getSize();
}

Event CollectiveGroup::all_gather(const std::string& what, const at::Tensor& whole) {
  return issue({.name = "all_gather " + what, .operation = trace::Operation::all_gather}, whole,
               ring_all_gather);
}

Event CollectiveGroup::reduce_scatter(const std::string& what, const at::Tensor& whole) {
  return issue({.name = "reduce_scatter " + what, .operation = trace::Operation::reduce_scatter}, whole,
               ring_reduce_scatter);
}

Event CollectiveGroup::all_reduce(const std::string& what, const at::Tensor& whole, const Event& after) {
  return issue(
      {.name = "all_reduce " + what, .operation = trace::Operation::all_reduce}, whole,
      [](c10d::Backend& transport, at::Tensor tensor) {
        ring_reduce_scatter(transport, tensor);
        ring_all_gather(transport, tensor);
      },
      after);
}

Event CollectiveGroup::issue(annotations::Collective operation, const at::Tensor& whole,
                             void (*run)(c10d::Backend&, at::Tensor), const Event& after) {
  operation.group = group_.id;
  operation.sequence = next_sequence_++;
  operation.bytes = whole.nbytes();
  operation.data_type = data_type_of(whole);
  const auto range = annotations::Scope::issue(operation);
  return stream_.enqueue([this, operation = std::move(operation), whole, run, after] {
    after.wait();
    const auto collective = annotations::Scope::collective(operation);
    run(*transport_, whole);
    if (const std::int64_t modelled =
            modelled_transfer_ns(pace_, operation.operation, operation.bytes, size()))
      sleep_until(monotonic_ns() + modelled);
  });
}

}  // namespace lockstep::trainer

#include "reference_trainer/distributed/collective_group.h"

#include <stdexcept>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <utility>

#include "reference_trainer/device/pacing.h"
#include "reference_trainer/distributed/communicator.h"
#include "reference_trainer/distributed/data_type.h"
#include "reference_trainer/distributed/ring.h"
#include "reference_trainer/faults/rank_faults.h"

namespace lockstep::trainer {
namespace {

// Operations of a group that are under way at once have different tags.
constexpr std::uint64_t kTags = 1 << 20;

// Gloo says what went wrong, but not in which operation.
[[noreturn]] void fail(const annotations::Collective& operation, const std::string& group,
                       const char* reason) {
  throw std::runtime_error(operation.name + " (number " + std::to_string(operation.sequence) + " of group " +
                           group + "): " + reason);
}

}  // namespace

CollectiveGroup::CollectiveGroup(Communicator& communicator, annotations::Group group)
    : faults_(communicator.faults()),
      transport_(communicator.connect(group.name, group.ranks)),
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
      [](c10d::Backend& transport, at::Tensor tensor, int tag) {
        ring_reduce_scatter(transport, tensor, tag);
        ring_all_gather(transport, tensor, tag);
      },
      after);
}

Event CollectiveGroup::issue(annotations::Collective operation, const at::Tensor& whole,
                             void (*run)(c10d::Backend&, at::Tensor, int tag), const Event& after) {
  operation.group = group_.id;
  operation.sequence = next_sequence_++;
  operation.bytes = whole.nbytes();
  operation.data_type = data_type_of(whole);
  if (faults_.skip_collective()) return {};
  const auto range = annotations::Scope::issue(operation);
  return stream_.enqueue([this, operation = std::move(operation), whole, run, after] {
    after.wait();
    const auto collective = annotations::Scope::collective(operation);
    try {
      run(*transport_, whole, static_cast<int>(operation.sequence % kTags));
    } catch (const c10::Error& error) {
      fail(operation, group_.name, error.what_without_backtrace());
    } catch (const std::exception& error) {
      fail(operation, group_.name, error.what());
    }
    if (const std::int64_t modelled =
            modelled_transfer_ns(pace_, operation.operation, operation.bytes, size()))
      sleep_until(monotonic_ns() + modelled);
  });
}

}  // namespace lockstep::trainer

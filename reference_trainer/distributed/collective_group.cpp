#include "reference_trainer/distributed/collective_group.h"

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <utility>

#include "reference_trainer/device/pacing.h"
#include "reference_trainer/distributed/communicator.h"
#include "reference_trainer/distributed/data_type.h"
#include "reference_trainer/distributed/failure.h"
#include "reference_trainer/distributed/native_collectives.h"
#include "reference_trainer/distributed/ring.h"
#include "reference_trainer/faults/rank_faults.h"

namespace lockstep::trainer {
namespace {

// Operations of a group that are under way at once have different tags.
constexpr std::uint64_t kTags = 1 << 20;

}  // namespace

CollectiveGroup::CollectiveGroup(Communicator& communicator, annotations::Group group)
    : faults_(communicator.faults()),
      transport_(communicator.connections().transport(group.name, group.ranks)),
      native_(communicator.connections().device().nccl),
      group_(std::move(group)),
      pace_(communicator.pace()),
      stream_(communicator.connections().make_stream(group_.name)) {
  annotations::declare_group(group_);
}

CollectiveGroup::~CollectiveGroup() = default;

int CollectiveGroup::rank() const {
  return transport_->getRank();
}

int CollectiveGroup::size() const {
  return transport_->getSize();
}

Event CollectiveGroup::all_gather(const std::string& what, const at::Tensor& whole, FilledOn filled) {
  return issue({.name = "all_gather " + what, .operation = trace::Operation::all_gather}, whole, {}, filled);
}

Event CollectiveGroup::reduce_scatter(const std::string& what, const at::Tensor& whole) {
  return issue({.name = "reduce_scatter " + what, .operation = trace::Operation::reduce_scatter}, whole, {},
               FilledOn::callers_stream);
}

Event CollectiveGroup::all_reduce(const std::string& what, const at::Tensor& whole, const Event& after) {
  return issue({.name = "all_reduce " + what, .operation = trace::Operation::all_reduce}, whole, after,
               FilledOn::callers_stream);
}

void CollectiveGroup::run(const annotations::Collective& operation, const at::Tensor& whole) {
  const int tag = static_cast<int>(operation.sequence % kTags);
  const bool reduces = operation.operation != trace::Operation::all_gather;
  const bool gathers = operation.operation != trace::Operation::reduce_scatter;
  naming(operation.name + " (number " + std::to_string(operation.sequence) + " of group " + group_.name + ")",
         [&] {
           if (native_) return run_native(*transport_, operation.operation, whole);
           if (reduces) ring_reduce_scatter(*transport_, whole, tag);
           if (gathers) ring_all_gather(*transport_, whole, tag);
         });
}

Event CollectiveGroup::issue(annotations::Collective operation, const at::Tensor& whole, const Event& after,
                             FilledOn filled) {
  operation.group = group_.id;
  operation.sequence = next_sequence_++;
  operation.bytes = whole.nbytes();
  operation.data_type = data_type_of(whole);
  if (faults_.skip_collective()) return {};
  const auto range = annotations::Scope::issue(operation);
  return stream_->enqueue({.run =
                               [this, operation, whole] {
                                 run(operation, whole);
                                 if (const std::int64_t modelled = modelled_transfer_ns(
                                         pace_, operation.operation, operation.bytes, size()))
                                   sleep_until(monotonic_ns() + modelled);
                               },
                           .after = {after},
                           .after_caller = filled == FilledOn::callers_stream,
                           .open = [operation] { annotations::push_collective(operation); }});
}

}  // namespace lockstep::trainer

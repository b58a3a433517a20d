#include "analyzer/diagnose/knobs.h"

#include <fmt/format.h>

#include <map>

#include "analyzer/model/operation.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr std::int64_t kWorthMentioning = 10;  // a tenth of all transfer

}  // namespace

std::string bucket_size_knobs(std::int64_t mebibytes, DataType type) {
  const std::int64_t element = trace::size_in_bytes(type);
  const std::string elements =
      element == 0 ? "(in elements)" : fmt::format("= {} (elements)", (mebibytes << 20) / element);
  return fmt::format(
      "DistributedDataParallel(bucket_cap_mb={0}), `lockstep train --bucket-cap-mb {0}`; DeepSpeed: "
      "reduce_bucket_size {1}",
      mebibytes, elements);
}

std::string overlap_knobs(Operation operation) {
  switch (operation) {
    case Operation::all_reduce:
      return "DistributedDataParallel(bucket_cap_mb=25) instead of one all_reduce after backward, "
             "smaller buckets where it is that already; DeepSpeed: overlap_comm = true";
    case Operation::all_gather:
      return "FSDP(backward_prefetch=BackwardPrefetch.BACKWARD_PRE, forward_prefetch=True); DeepSpeed stage "
             "3: a larger stage3_prefetch_bucket_size, and a larger stage3_param_persistence_threshold, so "
             "that small parameters stay";
    case Operation::reduce_scatter:
      return "gradients scattered during backward (FSDP units of a layer each; DeepSpeed: overlap_comm = "
             "true, a smaller reduce_bucket_size)";
    case Operation::send:
    case Operation::recv:
    case Operation::send_recv:
      return "messages posted a pass ahead, by isend, irecv or batch_isend_irecv with wait() right before "
             "the use (Megatron and `lockstep train`: --overlap-p2p-communication)";
    default:
      return "";
  }
}

OverlapKnobs overlap_knobs(const Report& report, const ActivationGroups& activations,
                           const RootWaits& roots) {
  std::map<Operation, std::int64_t> transfer;
  std::int64_t total = 0, of_activations = 0, of_small_broadcasts = 0;
  for (const CollectiveReport& collective : report.collectives) {
    const bool is_of_activations = activations.has(collective);
    const bool is_small_broadcast = collective.operation == Operation::broadcast && collective.bytes &&
                                    *collective.bytes <= kTinyOperation;
    for (const CollectiveRank& rank : collective.ranks) {
      std::int64_t& sum = is_of_activations                         ? of_activations
                          : is_small_broadcast                      ? of_small_broadcasts
                          : is_point_to_point(collective.operation) ? transfer[Operation::send_recv]
                                                                    : transfer[collective.operation];
      const std::int64_t moving = rank.transfer_ns - roots.in(rank);
      sum = saturating_add(sum, moving);
      total = saturating_add(total, moving);
    }
  }
  const auto is_worth_mentioning = [&](std::int64_t ns) { return ns > 0 && ns >= total / kWorthMentioning; };
  OverlapKnobs knobs;
  std::string& all = knobs.start_earlier;
  if (is_worth_mentioning(of_activations)) all = kOverlapOfActivations;
  for (const Operation operation :
       {Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter, Operation::send_recv}) {
    // A loss that is summed over the ranks is no reason to speak of gradient buckets.
    if (!is_worth_mentioning(transfer[operation])) continue;
    all += (all.empty() ? "" : "; ") + overlap_knobs(operation);
  }
  knobs.broadcasts_little = is_worth_mentioning(of_small_broadcasts);
  return knobs;
}

}  // namespace lockstep::analyzer

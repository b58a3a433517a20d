// The settings that remedies name: what the same knob is called in PyTorch, in DeepSpeed's configuration and
// in the reference trainer.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/diagnose/group_roles.h"
#include "analyzer/diagnose/root_waits.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Of gradient buckets of this size. DeepSpeed counts elements: of `type`, where it is known.
std::string bucket_size_knobs(std::int64_t mebibytes, DataType type);

// What starts operations of this kind before their result is needed; "" for those that have no knob.
std::string overlap_knobs(Operation operation);
// Of activations that are needed at once.
inline constexpr const char* kOverlapOfActivations =
    "tensor parallelism in pieces, under its matrix products (torchtitan: "
    "parallelism.enable_async_tensor_parallel; Megatron: --tp-comm-overlap)";
// What to do without where small operations are broadcast: these no bucket and no prefetch starts earlier.
inline constexpr const char* kFewerSmallBroadcasts =
    "DDP(broadcast_buffers=False) where these are buffers that need not be equal on all ranks, "
    "ZeroRedundancyOptimizer(parameters_as_bucket_view=True) where they are its parameters, or less often";
// Of so little the time is that of starting it.
inline constexpr std::int64_t kTinyOperation = 64 << 10;

// Of every kind that takes a tenth of all transfer in this report, without what roots wait in it for their
// receivers.
struct OverlapKnobs {
  std::string start_earlier;       // one after the other; "" for those that have no knob
  bool broadcasts_little = false;  // kFewerSmallBroadcasts
};
OverlapKnobs overlap_knobs(const Report& report, const ActivationGroups& activations, const RootWaits& roots);

}  // namespace lockstep::analyzer

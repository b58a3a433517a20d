// The settings that remedies name: what the same knob is called in PyTorch, in DeepSpeed's configuration and
// in the reference trainer.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/diagnose/group_roles.h"
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
// Of every kind that takes a tenth of all transfer in this report, one after the other.
std::string overlap_knobs(const Report& report, const ActivationGroups& activations);

}  // namespace lockstep::analyzer

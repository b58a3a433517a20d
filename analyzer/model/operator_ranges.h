// Host ranges of modules and operators: values of HostKind beside those of a step, of data loading and of
// launches.
#pragma once

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// The call of a module, or the part of a backward pass that is its, named by its place in the model:
// "layers.7.mlp". Kept whatever its length.
inline constexpr HostKind kModuleRange = static_cast<HostKind>(16);
// A framework's operator that no other one called, or a node of autograd. Kept whatever its length.
inline constexpr HostKind kOperatorRange = static_cast<HostKind>(17);

}  // namespace lockstep::analyzer

#include "analyzer/model/step_names.h"

#include "trace/events/operator_ranges.h"

namespace lockstep::analyzer {

StepName step_name(std::string_view name) {
  if (name.starts_with("Optimizer.step#")) return StepName::optimizer;
  if (name.starts_with(trace::kForwardOf) || name == "DistributedDataParallel.forward" ||
      name == "FullyShardedDataParallel.forward")
    return StepName::pass;
  if (name == "forward") return StepName::part;
  if (name == "backward" || name.starts_with("Optimizer.") || name.starts_with("autograd::engine"))
    return StepName::training;
  return StepName::none;
}

}  // namespace lockstep::analyzer

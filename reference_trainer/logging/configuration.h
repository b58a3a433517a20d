// A job's configuration as the log tells it: everything that a reader needs to run the same job again.
#pragma once

#include <nlohmann/json.hpp>

#include "reference_trainer/options/options.h"

namespace lockstep::trainer {

// The flags by name, as `--config` takes them; of the modes' own flags those of this mode. What followed from
// others or from the number of ranks (batch sizes, stages, Llama's widths) stands there as it came out.
nlohmann::ordered_json flags_of(const Options& options, int world_size);

// DeepSpeed's configuration of a ZeRO mode, as `--deepspeed` takes it, "auto" and defaults resolved; null in
// other modes.
nlohmann::ordered_json deepspeed_of(const Options& options);

}  // namespace lockstep::trainer

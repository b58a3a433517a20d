// The options of ZeRO: DeepSpeed's own, out of its configuration.
#pragma once

#include <string>

#include "reference_trainer/modes/zero/deepspeed_config.h"

namespace lockstep::trainer {

struct DeepSpeedOptions {
  std::string file;  // empty: none
  ZeroOptions zero;
  BatchSizes batch_sizes;  // what flags and that file say; see deepspeed_flags.h
};

}  // namespace lockstep::trainer

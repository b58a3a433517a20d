// --deepspeed: DeepSpeed's own configuration beside the trainer's flags, which must not say different things.
#pragma once

#include "base/result.h"
#include "reference_trainer/options/options.h"

namespace CLI {
class App;
}

namespace lockstep::trainer {

inline constexpr const char* kZeroHeading = "ZeRO (--mode zero1, zero2, zero3)";

void add_deepspeed_flag(CLI::App& app, Options& options);

// After parsing: what the file says, its stage as the mode among it; without one, DeepSpeed's
// defaults for the mode.
Status apply_deepspeed(const CLI::App& app, Options& options);

// With a file: the batch sizes that follow from it for `world_size` ranks.
Status settle_batch_sizes(Options& options, int world_size);

}  // namespace lockstep::trainer

// The text of a job and how its ranks share it, as the options ask for it.
#pragma once

#include "base/result.h"
#include "reference_trainer/data/sampler.h"
#include "reference_trainer/data/text.h"
#include "reference_trainer/options/options.h"

namespace lockstep::trainer {

// Ranks that split a model, and not the batch, see the same share of the batch.
Sampler::Shape sampler_shape(const Options& options, const Text& text, int world_size, int rank);

// Loads the text (--data, or the project's documentation) and checks that it is long enough for a job of
// `world_size` ranks.
Result<Text> load_training_text(const Options& options, int world_size);

}  // namespace lockstep::trainer

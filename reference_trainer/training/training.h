// The training job of one rank, from the text to the last step.
#pragma once

#include "base/result.h"
#include "reference_trainer/data/text.h"
#include "reference_trainer/launcher/placement.h"
#include "reference_trainer/options/options.h"

namespace lockstep::trainer {

// Trains. Rank 0 prints a line a step to standard output and writes the log. Every rank of the job must call
// this with the same options. Errors of other ranks show as errors of communication.
Status train(const Options& options, const Placement& placement, const Text& text);

}  // namespace lockstep::trainer

// Iterations of a loop that computes forward passes and trains nothing: inference, serving, evaluation alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

struct Iterations {
  std::vector<Nanoseconds> boundaries;  // ascending: begins, and the end of the last
  std::uint32_t name = kNone;           // of the ranges that begin them
};

// By the ranges of whole forward passes ("DistributedDataParallel.forward", "forward of …"), or where there
// are none the outermost calls of modules, of the thread with most of them. Of several models the one that
// divides them into equal stretches (repetition.h), where several passes of one model in a row may count as
// one (generation: an encoder, then a decoder once for each token); else, of whole passes, the one that is
// called most often. How long a pass takes does not matter: batches may differ. From the loading of data
// before a pass, where there is some, to that before the next; the last one to the next loading, or as long
// as the median. Nothing where less than five are found, or less than half of the rank's launches lie in them
// (what warms up for CUDA graphs), or where the rank trains: ranges of an optimizer or of a backward pass.
std::optional<Iterations> find_iterations(const RankTrace& rank, const StringTable& strings);

// Whether the rank computes whole forward passes, and trains nothing.
bool only_infers(const RankTrace& rank, const StringTable& strings);

}  // namespace lockstep::analyzer

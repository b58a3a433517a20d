// Ranks that are in the same operation and disagree about its root, its type, or its size.
#pragma once

#include <string>

#include "analyzer/diagnose/hung_operations.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer::hang {

struct OtherArguments {
  std::string about;  // "root", "type", "size"; empty: they agree, or nobody knows
  std::string what;   // "rank 0 gives rank 0, rank 1 gives rank 1"
};

// Of ranks in the same operation, or through it; of those that say it. Sizes are compared where they must be
// equal: of all-reduces, broadcasts and reductions.
OtherArguments find_other_arguments(const Job& job, const OperationKey& key, const HungOperation& hung);

}  // namespace lockstep::analyzer::hang

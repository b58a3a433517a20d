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

// Whether all ranks have to give the operation the same size: all-reduces, broadcasts and reductions.
bool has_one_size(Operation operation);

// Of ranks in the same operation, or through it; of those that say it. Sizes are compared where they must be
// equal.
OtherArguments find_other_arguments(const Job& job, const OperationKey& key, const HungOperation& hung);

}  // namespace lockstep::analyzer::hang

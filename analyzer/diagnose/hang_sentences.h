// What the finding of a hang says of one operation: its title, and what to do.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "analyzer/diagnose/hung_operations.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer::hang {

// "rank 0 in all_reduce, rank 1 in barrier", where ranks came to different operations under one number; empty
// where all came to the same, or where nobody knows.
std::string describe_disagreement(const Job& job, const OperationKey& key, const HungOperation& hung);

// `disagreement`: as above.
std::string title_of(const Job& job, const OperationKey& key, const HungOperation& hung,
                     const std::string& disagreement);

// Of ranks that came to different operations under one number; `hung` has the one of this key.
std::string remedy_of_disagreement(const Job& job, const HungOperations& hung, const OperationKey& key);

// Of ranks that came to the same one. `stuck`: ranks whose devices stand still.
std::string remedy_of(const Job& job, const HungOperation& hung, const std::set<std::int32_t>& stuck);

// Of ranks that disagree about the "root", "type" or "size" of what they are in.
std::string remedy_of_other_arguments(const Job& job, const std::string& about);

}  // namespace lockstep::analyzer::hang

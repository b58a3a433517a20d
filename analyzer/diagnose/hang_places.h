// Where each rank of a job that hung stands, and where in time to look at it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/diagnose/hung_operations.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer::hang {

std::vector<HungOperations::const_iterator> in_order_of_time(const HungOperations& hung);

// Where the ranks stand of which nobody knows whether they came.
void add_unknown_standings(const Job& job, const std::vector<std::int32_t>& unknown, Finding& finding);

// The findings tell of few operations; where each rank stands that `all` of them leave out is said all the
// same: the first operation that it waits in, or what else is known of it.
void place_all_ranks(const Job& job, const HungOperations& hung, std::span<const Finding> all,
                     Finding& finding);

// Where the first rank waits that does, and until when. A flight recorder's dump has no timeline to look at.
std::optional<FindingPlace> place_in_time(const Job& job, const Report& report, const OperationKey& key,
                                          const HungOperation& hung);

}  // namespace lockstep::analyzer::hang

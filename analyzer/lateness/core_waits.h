// By how much longer than the others a rank's threads were ready to run and had no core.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/lateness/step_table.h"

namespace lockstep::analyzer {

// Mean over steps of a measure of the rank beyond the lower median of the others; absent where one of them is
// not known.
std::optional<std::int64_t> mean_excess(const StepTable& table, std::int32_t rank,
                                        std::optional<std::int64_t> Measures::*measure);

// What a stage of a pipeline idles more than the others while it is waited for is half of its lateness or
// more, and its greatest part is its host's.
bool is_late_by_idling(const StepTable& table, const RankLateness& late);

// Of Measures::run_queue_ns.
std::optional<std::int64_t> run_queue_excess(const StepTable& table, std::int32_t rank);

// Of that, what can have made it late: without what it waits because it has more to run than the others. Who
// runs twice as long on cores that are as busy waits twice as long for them, and it is what it runs that
// makes it late. A stage that is late by idling is so by no more than what it waited for a core in that time.
std::optional<std::int64_t> core_wait_excess(const StepTable& table, const RankLateness& late);

}  // namespace lockstep::analyzer

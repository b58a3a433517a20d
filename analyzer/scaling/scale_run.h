// What a scaling study keeps of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/diff/run_sums.h"
#include "analyzer/diff/suspects.h"
#include "analyzer/model/job.h"
#include "analyzer/report/report.h"
#include "base/result.h"

namespace lockstep::analyzer {

// Collectives of one kind and size in groups of one size: how long their transfer takes.
struct MessageTimes {
  Operation operation = Operation::unknown;
  std::int64_t ranks = 0;  // of the group
  std::int64_t bytes = 0;
  std::int64_t count = 0;
  double median_ns = 0;  // over the operations, of the mean over their ranks
};

struct ScaleRun {
  RunSums sums;
  // POP's, of the steady steps; absent where they are not known.
  std::optional<double> load_balance, communication_efficiency;
  std::vector<MessageTimes> messages;  // by operation, ranks and bytes
  // "4 ranks share 2 cores of host a": what such a run measures is the host; "" where ranks have their own.
  std::string shared;
  RunSettings settings;
};

// The error is that of run_sums().
Result<ScaleRun> scale_run(const Job& job, const Report& report);

}  // namespace lockstep::analyzer

// What is drawn beside a finding: the part of the report that it speaks of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

struct DrawnEvidence {
  enum class Kind : std::uint8_t {
    none,     // nothing has a length: the words say it all
    arrival,  // of the ranks at `collective`, to which `rank` came last
    stages,   // compute of each stage of `pipeline`
    buckets,  // the group's collectives of one kind in the order of a step: `bucket` is the first
    batches,  // the ranks' compute, step by step
    cause,    // how much of each rank's time `cause` takes
  };
  Kind kind = Kind::none;
  std::size_t collective = 0, pipeline = 0, bucket = 0;  // indices into the report
  std::int32_t rank = 0;
  Cause cause = Cause::other;
};
const char* to_string(DrawnEvidence::Kind kind);

DrawnEvidence evidence_of(const Finding& finding, const Report& report);

// Where ranks stand in a job that hung, as the finding's evidence says it: ranks 8 and 12 "wait in"
// "nccl:recv 2<-3 (group 43 …)"; rank 10 "issued" "number 20946 of this group last".
struct Standing {
  std::vector<std::int32_t> ranks;
  std::string how, where;
};
std::vector<Standing> standings_of(const Finding& finding);

}  // namespace lockstep::analyzer

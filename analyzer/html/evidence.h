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

}  // namespace lockstep::analyzer

// What is drawn beside a finding: the part of the report that it speaks of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/diagnose/finding_kind.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// The picture that the finding's kind asks for, where the report has what it shows.
struct DrawnEvidence {
  Picture kind = Picture::none;
  // Indices into the report: of the arrivals, of the stages, the first of the buckets.
  std::size_t collective = 0, pipeline = 0, bucket = 0;
  std::int32_t rank = 0;  // that came last, or runs the stage
  Cause cause = Cause::other;
};
const char* to_string(Picture picture);

DrawnEvidence evidence_of(const Finding& finding, const Report& report);

}  // namespace lockstep::analyzer

// What is drawn beside a finding: the part of the report that it speaks of. Internal.
#pragma once

#include "analyzer/html/group_numbers.h"
#include "analyzer/html/picture.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

struct DrawnEvidence {
  const Picture* picture = nullptr;  // nullptr: nothing is drawn
  PictureData data;
};

// The picture that the finding's kind asks for; where the report lacks what it shows, the cause's bars.
DrawnEvidence evidence_of(const Finding& finding, const Report& report, const GroupNumbers& groups);

}  // namespace lockstep::analyzer

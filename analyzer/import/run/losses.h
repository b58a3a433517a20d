// What a recorder says it did not record.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/model/job.h"
#include "trace/events/event.h"
#include "trace/reader.h"

namespace lockstep::analyzer::run {

struct Losses {
  std::uint64_t events = 0;  // that were counted
  std::string reasons;       // "nvtx: ring full (42); …"; empty if there are none
  std::vector<TimeSpan>
      gaps;  // in which a source recorded nothing, and nobody knows how much: drops of count 0
  std::vector<TimeSpan> on_purpose;  // in which nobody wanted anything recorded (source "control"), sorted
  std::string gap_reasons;           // "cupti: another tool had CUPTI (2 times, 1.204 s); …"
};
Losses losses_of(const trace::Reader& reader, const std::vector<trace::Drop>& drops);

}  // namespace lockstep::analyzer::run

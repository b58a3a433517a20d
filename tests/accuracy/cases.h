// A planted case for each kind of finding that is not about who is late: hand-made jobs in which it has to be
// found.
#pragma once

#include <span>
#include <string_view>

#include "analyzer/model/job.h"
#include "tests/accuracy/noise.h"

namespace lockstep::accuracy {

struct KindCase {
  std::string_view code;  // the finding that has to be there
  // Durations and sizes vary with `random` by up to a fifth.
  analyzer::Job (*make)(Random& random);
};
std::span<const KindCase> kind_cases();

}  // namespace lockstep::accuracy

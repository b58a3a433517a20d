// Planted cases of findings about ranks that do nothing between their computations.
#pragma once

#include "analyzer/model/job.h"
#include "tests/accuracy/noise.h"

namespace lockstep::accuracy {

analyzer::Job copies(Random& random);
analyzer::Job loads(Random& random);
analyzer::Job does_not_start(Random& random);
analyzer::Job launches_late(Random& random);
analyzer::Job idles_on_a_cpu(Random& random);
analyzer::Job nobody_knows(Random& random);
analyzer::Job few_launches(Random& random);
analyzer::Job profiled_with_stacks(Random& random);
analyzer::Job spins(Random& random);

}  // namespace lockstep::accuracy

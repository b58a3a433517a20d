// Planted cases of findings about what a run does beside training.
#pragma once

#include "analyzer/model/job.h"
#include "tests/accuracy/noise.h"

namespace lockstep::accuracy {

analyzer::Job saves_checkpoints(Random& random);  // on rank 0 alone
analyzer::Job evaluates(Random& random);
analyzer::Job compiles_anew(Random& random);  // one rank, in every eighth step
analyzer::Job starts_long(Random& random);
analyzer::Job compiles_long(Random& random);

}  // namespace lockstep::accuracy

// A job and an analysis made by hand, for tests of exports: two ranks, a collective between them, and names
// that a format can trip over.
#pragma once

#include <cstdint>

#include "analyzer/analysis.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

struct SampleJob {
  Job job;
  Analysis analysis;
};

// Ranks 0 and 3. On rank 0 lane 0 holds two compute activities that overlap without nesting; a name has
// quotes, a comma and line breaks; a lane's name has a byte that is not UTF-8. One all-reduce, for which both
// wait for rank 3.
SampleJob sample_job();

// A rank with `activities` random activities on three lanes, overlapping at will. Deterministic.
SampleJob random_job(std::uint32_t seed, int ranks, int activities);

}  // namespace lockstep::analyzer

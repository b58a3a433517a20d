// Does a Job keep the promises of job.h: sorted columns, indices within their tables, no end before its
// begin, times that can be subtracted without overflow? The analysis relies on them; an importer that breaks
// one would otherwise produce wrong figures without a word.
#pragma once

#include <stop_token>

#include "analyzer/model/job.h"
#include "base/result.h"

namespace lockstep::analyzer {

// Times lie within ±kTimeLimit (146 years), so that any difference of two fits into 64 bits.
inline constexpr Nanoseconds kTimeLimit = Nanoseconds{1} << 62;

// The message names the rank, the table, the row and what is wrong with it. O(n), no allocation where all is
// well.
Status check_job(const Job& job, const std::stop_token& stop = {});

}  // namespace lockstep::analyzer

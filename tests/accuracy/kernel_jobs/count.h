// How often a report says of ranks' work what is true of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/report/report.h"
#include "base/result.h"
#include "tests/accuracy/kernel_jobs/cases.h"
#include "tests/accuracy/suite.h"

namespace lockstep::accuracy {

struct WorkVerdict {
  bool is_right = false;    // all that is true was said: who is late or slow, and what of the work
  bool false_work = false;  // it was said that a rank has more work, or that work is uneven, and it is not so
  bool wrongly_accused = false;  // or said to be slow: a rank that is not late
};
WorkVerdict judge_work(const analyzer::Report& report, const WorkCase& planted);

struct WorkResult {
  WorkCase planted;
  std::int64_t jobs = 0, right = 0, false_work = 0, wrongly_accused = 0;
  std::vector<std::string> examples;  // "job 17: title", of the first that are false
  std::vector<std::string> misses;    // the same of all that are not right, and nothing in them is false
};
// `jobs` of each case. Error: analyze() refused one.
Result<std::vector<WorkResult>> count_work(std::int64_t jobs, std::uint64_t seed,
                                           const LookAtReport& look = {});

}  // namespace lockstep::accuracy

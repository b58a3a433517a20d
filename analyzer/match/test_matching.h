// For tests: the matches of a hand-made job, a line each.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/match/match.h"
#include "analyzer/model/check_job.h"
#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {

// "all_reduce sequence [0@10 1@12] partial": rank@begin of each record.
inline std::vector<std::string> lines_of(const Job& job, const Matching& matching) {
  std::vector<std::string> lines;
  for (const Match& match : matching.matches) {
    std::string line =
        std::string(trace::to_string(match.operation)) + " " + to_string(match.evidence) + " [";
    for (const MatchRecord record : matching.records_of(match)) {
      if (line.back() != '[') line += " ";
      line +=
          std::to_string(job.ranks[record.rank].rank) + "@" + std::to_string(activity_of(job, record).begin);
    }
    lines.push_back(line + "]" + (match.partial ? " partial" : ""));
  }
  return lines;
}

struct Matched {
  Job job;
  Matching matching;
  std::vector<std::string> lines;
};

inline Matched match(const JobBuilder& builder) {
  Matched result{builder.build(), {}, {}};
  EXPECT_TRUE(check_job(result.job).ok());
  result.matching = match_communications(result.job);
  result.lines = lines_of(result.job, result.matching);
  return result;
}

}  // namespace lockstep::analyzer

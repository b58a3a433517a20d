// For tests of the whole way: files into a report, of which what always holds is checked.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/open_job.h"
#include "analyzer/test_analysis.h"

namespace lockstep::analyzer {

struct Analyzed {
  Job job;
  Analysis analysis;
};

// What can't be read or analyzed fails the test.
inline Analyzed analyzed_files(const std::vector<std::string>& paths) {
  Result<Job> job = open_job(paths);
  if (!job.ok()) ADD_FAILURE() << job.error().message;
  if (!job.ok()) return {};
  Analyzed result{std::move(job).value(), {}};
  result.analysis = checked_analysis(result.job);
  return result;
}

// Every rank and step: nine causes, none negative, that sum to the window.
inline void expect_exact_partitions(const Analysis& analysis) {
  const auto check = [](const Measures& measures) {
    EXPECT_EQ(measures.partition.total(), measures.window_ns);
    for (const std::int64_t ns : measures.partition.ns) EXPECT_GE(ns, 0);
  };
  for (const RankReport& rank : analysis.report.ranks) check(rank.measures);
  for (const StepReport& step : analysis.report.steps) check(step.measures);
  for (std::size_t rank = 0; rank < analysis.segments.size(); ++rank) {
    std::int64_t sum = 0;
    for (const CauseSegment& segment : analysis.segments[rank]) sum += segment.end - segment.begin;
    EXPECT_EQ(sum, analysis.report.ranks[rank].measures.window_ns);
  }
}

inline std::vector<std::string> titles_of(const Report& report, const std::string& code) {
  std::vector<std::string> titles;
  for (const Finding& finding : report.findings)
    if (finding.code == code) titles.push_back(finding.title);
  return titles;
}

}  // namespace lockstep::analyzer

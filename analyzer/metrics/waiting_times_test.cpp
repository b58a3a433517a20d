// When ranks do nothing but communicate, and of that wait.
#include "analyzer/metrics/waiting_times.h"

#include <gtest/gtest.h>

#include <vector>

#include "analyzer/match/match.h"
#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {
namespace {

using Intervals = std::vector<Interval>;

// Rank 0 comes to an all-reduce at 100 and computes beside it from 120 to 150; rank 1 comes at 180; it ends
// at 200.
Job job_of_two() {
  JobBuilder job;
  job.rank(0).step(0, 0, 200).compute(0, 100).launched(0, 1);
  job.rank(0).all_reduce(100, 200).launched(1, 2);
  job.rank(0).compute(120, 150).launched(2, 3);
  job.rank(1).step(0, 0, 200).compute(0, 180).launched(0, 1);
  job.rank(1).all_reduce(180, 200).launched(1, 2);
  return job.build();
}

TEST(WaitingTimes, AreThoseWithoutComputation) {
  const Job job = job_of_two();
  const Matching matching = match_communications(job);
  std::vector<MatchWaits> of_matches;
  for (const Match& match : matching.matches) of_matches.push_back(compute_waits(job, matching, match));
  const JobWaits waits = collect_waits(job, matching, of_matches);
  EXPECT_EQ(communicating_alone(job.ranks[0]).intervals(), (Intervals{{100, 120}, {150, 200}}));
  EXPECT_EQ(waiting_alone(job.ranks[0], waits[0]).intervals(), (Intervals{{100, 120}, {150, 180}}));
  EXPECT_EQ(communicating_alone(job.ranks[1]).intervals(), (Intervals{{180, 200}}));
  EXPECT_TRUE(waiting_alone(job.ranks[1], waits[1]).empty()) << "it came last";
}

TEST(WaitingTimes, OfARankWithoutOperationsAreNone) {
  JobBuilder job;
  job.rank(0).step(0, 0, 100).compute(0, 100).launched(0, 1);
  EXPECT_TRUE(communicating_alone(job.build().ranks[0]).empty());
}

}  // namespace
}  // namespace lockstep::analyzer

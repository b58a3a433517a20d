#include "analyzer/report/whole_run.h"

#include <gtest/gtest.h>

namespace lockstep::analyzer {
namespace {

Report with_finding(const char* code, Alarm alarm, const char* title, Topic topic = Topic::other) {
  Report report;
  Finding finding;
  finding.code = code;
  finding.alarm = alarm;
  finding.title = title;
  finding.topic = topic;
  report.findings.push_back(finding);
  return report;
}

TEST(WholeRun, DidNotHangFailOrGetInterrupted) {
  EXPECT_EQ(why_not_whole(Report{}), "");
  EXPECT_EQ(why_not_whole(with_finding("host_bound", Alarm::none, "hosts are slow")), "");
  EXPECT_EQ(why_not_whole(with_finding("mismatched_collectives", Alarm::mismatch, "ranks disagree")), "");
  EXPECT_EQ(why_not_whole(with_finding("hang", Alarm::hang, "the job hung")), "the job hung");
  EXPECT_EQ(why_not_whole(with_finding("job_failed", Alarm::failure, "exit code 1")), "exit code 1");
  EXPECT_EQ(why_not_whole(
                with_finding("job_interrupted", Alarm::none, "interrupted by Ctrl-C", Topic::interrupted)),
            "interrupted by Ctrl-C");
}

TEST(WholeRun, HasAllOfItsFiles) {
  Report damaged;
  damaged.ranks.resize(2);
  damaged.ranks[1].rank = 1;
  damaged.ranks[1].damaged = true;
  EXPECT_EQ(why_not_whole(damaged), "the file of rank 1 is damaged");
  Report cut;
  cut.warnings.push_back({"file_damaged", "it has no footer", 0});
  EXPECT_NE(why_not_whole(cut), "");
}

}  // namespace
}  // namespace lockstep::analyzer

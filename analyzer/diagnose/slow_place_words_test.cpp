// What is advised to whom does not know where a rank was.
#include "analyzer/diagnose/slow_place_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;
using testing::Not;

// A rank with looks at its Python stack, one in each of ten hundredths of a second.
JobBuilder looked_at() {
  JobBuilder job;
  RankBuilder& rank = job.rank(0);
  for (Nanoseconds look = 0; look < 10; ++look) {
    rank.host_range(look * 50'000'000, (look + 1) * 50'000'000, "load (train.py:31)");
    rank.trace().host_ranges.back().kind = HostKind::python_place;
  }
  return job;
}

TEST(HowToNameIt, StacksComeFirst) {
  JobBuilder job;
  job.rank(0).compute(0, 1000);
  EXPECT_THAT(how_to_name_it(job.build()), HasSubstr("names the line of Python"));
}

TEST(HowToNameIt, NobodyIsSentToWhatIsRecordedAlready) {
  EXPECT_THAT(how_to_name_it(looked_at().build()), HasSubstr("--operators"));
  JobBuilder job = looked_at();
  job.rank(0).host_range(0, 1000, "aten::mm");
  job.rank(0).trace().host_ranges.back().kind = HostKind::operation;
  EXPECT_THAT(how_to_name_it(job.build()), Not(HasSubstr("--operators")));
}

}  // namespace
}  // namespace lockstep::analyzer

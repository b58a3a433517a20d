#include "analyzer/model/job.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "analyzer/model/check_job.h"
#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {
namespace {

TEST(StringTable, EqualTextsHaveOneId) {
  StringTable strings;
  EXPECT_EQ(strings.intern(""), 0u);
  const std::uint32_t id = strings.intern("forward");
  EXPECT_EQ(strings.intern(std::string("for") + "ward"), id);
  EXPECT_EQ(strings.view(id), "forward");
  EXPECT_EQ(strings.size(), 2u);
}

TEST(StringTable, ACopyStandsOnItsOwn) {
  auto original = std::make_unique<StringTable>();
  const std::uint32_t id = original->intern("short");
  StringTable copy(*original);
  StringTable assigned;
  assigned = *original;
  original.reset();
  EXPECT_EQ(copy.view(id), "short");
  EXPECT_EQ(copy.intern("short"), id);
  EXPECT_EQ(assigned.intern("short"), id);
}

Job good_job() {
  JobBuilder job;
  const auto group = job.group("dp", {0, 1});
  job.rank(0).step(1, 0, 10).step(2, 10, 20).compute(0, 5).launched(0, 1).all_reduce(5, 9).in_group(group);
  job.rank(1).all_reduce(6, 9).in_group(group).data_loading(0, 4);
  return job.build();
}

TEST(CheckJob, AcceptsWhatKeepsThePromises) {
  EXPECT_TRUE(check_job(good_job()).ok());
}

struct Broken {
  std::string name;
  std::function<void(Job&)> damage;
  std::string message;  // a part of it
};
void PrintTo(const Broken& broken, std::ostream* out) {
  *out << broken.name;
}

class CheckJob : public testing::TestWithParam<Broken> {};

TEST_P(CheckJob, NamesWhatIsBroken) {
  Job job = good_job();
  GetParam().damage(job);
  const Status status = check_job(job);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find(GetParam().message), std::string::npos) << status.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    All, CheckJob,
    testing::Values(
        Broken{"reversed", [](Job& job) { job.ranks[0].activities[0].end = -1; },
               "activity 0: it ends before"},
        Broken{"unsorted",
               [](Job& job) {
                 job.ranks[0].activities[0].begin = 5, job.ranks[0].activities[0].end = 6,
                 job.ranks[0].activities[1].begin = 4;
               },
               "activity 1: it is not in order"},
        Broken{"too_late", [](Job& job) { job.ranks[0].activities[1].end = kTimeLimit; }, "out of range"},
        Broken{"launch", [](Job& job) { job.ranks[0].activities[1].launch_end = -kTimeLimit; },
               "launch time"},
        Broken{"lane", [](Job& job) { job.ranks[0].activities[1].lane = 9; }, "lane does not exist"},
        Broken{"step_index", [](Job& job) { job.ranks[0].activities[1].step = 2; }, "step does not exist"},
        Broken{"computation", [](Job& job) { job.ranks[0].activities[0].compute = 0; },
               "computation does not exist"},
        Broken{"counter_order",
               [](Job& job) {
                 job.ranks[0].counters = {{"memory", {{5, 1}, {4, 1}}}};
               },
               "counter point 1: it is earlier"},
        Broken{"counter_time",
               [](Job& job) {
                 job.ranks[0].counters = {{"memory", {{kTimeLimit, 1}}}};
               },
               "counter point 0: its time"},
        Broken{"no_record", [](Job& job) { job.ranks[0].activities[1].communication = kNone; },
               "does not point back"},
        Broken{"wrong_record", [](Job& job) { job.ranks[0].communications[0].activity = 0; },
               "does not point back"},
        Broken{"group", [](Job& job) { job.ranks[1].communications[0].group = 1; }, "group does not exist"},
        Broken{"step_order", [](Job& job) { job.ranks[0].steps[1].begin = 9; }, "step 1: it overlaps"},
        Broken{"step_reversed", [](Job& job) { job.ranks[0].steps[1].end = 9; }, "step 1: it ends before"},
        Broken{"host_range", [](Job& job) { job.ranks[1].host_ranges[0].end = -1; },
               "host range 0: it ends before"},
        Broken{"rank_twice", [](Job& job) { job.ranks[1].rank = 0; }, "rank 0 stands after rank 0"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace lockstep::analyzer

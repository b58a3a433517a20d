// What the importers find in small traces of our own (tests/fixtures/README.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/import/import.h"
#include "analyzer/import/test_files.h"
#include "analyzer/model/check_job.h"
#include "tests/fixtures/fixtures.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Job imported(const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back(test::fixture(name));
  Job job = must(import_job(paths));
  const Status status = check_job(job);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return job;
}

std::vector<std::int32_t> ranks_of(const Job& job) {
  std::vector<std::int32_t> ranks;
  for (const RankTrace& rank : job.ranks) ranks.push_back(rank.rank);
  return ranks;
}

std::int64_t activities_of(const RankTrace& rank, Class activity_class) {
  std::int64_t count = 0;
  for (const Activity& activity : rank.activities) count += activity.activity_class == activity_class;
  return count;
}

std::vector<Operation> operations_of(const RankTrace& rank) {
  std::vector<Operation> operations;
  for (const Communication& communication : rank.communications)
    operations.push_back(communication.operation);
  return operations;
}

// Three times those of a step.
std::vector<Operation> operations_of_three_steps() {
  std::vector<Operation> operations;
  for (int step = 0; step < 3; ++step) {
    for (const Operation operation :
         {Operation::all_gather, Operation::all_reduce, Operation::all_reduce, Operation::reduce_scatter})
      operations.push_back(operation);
  }
  return operations;
}

TEST(FixtureImport, KinetoOfFourGpus) {
  const Job job = imported({"gpu-4rank"});
  EXPECT_THAT(ranks_of(job), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(job.world_size, 4);
  EXPECT_THAT(job.sources, ElementsAre("kineto"));
  EXPECT_THAT(job.warnings, IsEmpty());
  EXPECT_EQ(job.realtime_of_zero, 1'700'000'000'000'000'000);
  ASSERT_THAT(job.groups, SizeIs(1));
  EXPECT_EQ(job.groups[0].description, "default_pg");
  EXPECT_THAT(job.groups[0].ranks, ElementsAre(0, 1, 2, 3));
  for (const RankTrace& rank : job.ranks) {
    SCOPED_TRACE(rank.rank);
    EXPECT_EQ(rank.device, "cuda:" + std::to_string(rank.rank));
    EXPECT_EQ(rank.resolution_ns, 1);
    EXPECT_EQ(activities_of(rank, Class::compute), 21);
    EXPECT_EQ(activities_of(rank, Class::copy), 3);
    EXPECT_EQ(operations_of(rank), operations_of_three_steps());
    EXPECT_THAT(rank.steps, SizeIs(3));
    const Communication& first = rank.communications.at(0);
    EXPECT_EQ(first.bytes, 65536);
    EXPECT_EQ(first.data_type, DataType::float32);
    EXPECT_EQ(first.sequence, 1);
    for (const Activity& activity : rank.activities) {
      if (activity.activity_class == Class::sync) continue;
      EXPECT_NE(activity.launch_begin, kUnknownTime);
      EXPECT_NE(activity.step, kNone);
    }
  }
}

TEST(FixtureImport, KinetoOfTwoCpus) {
  const Job job = imported({"cpu-2rank"});
  EXPECT_THAT(ranks_of(job), ElementsAre(0, 1));
  EXPECT_EQ(job.world_size, 2);
  EXPECT_THAT(job.warnings, IsEmpty());
  for (const RankTrace& rank : job.ranks) {
    EXPECT_EQ(rank.device, "cpu");
    EXPECT_EQ(activities_of(rank, Class::compute), 192);
    EXPECT_EQ(operations_of(rank), std::vector<Operation>(6, Operation::all_reduce));
    EXPECT_THAT(rank.steps, SizeIs(3));
  }
}

TEST(FixtureImport, NsysOfTwoGpus) {
  const Job job = imported({"nsys-2gpu"});
  EXPECT_THAT(ranks_of(job), ElementsAre(0, 1));
  EXPECT_THAT(job.sources, ElementsAre("nsys"));
  ASSERT_THAT(job.warnings, SizeIs(1));
  EXPECT_EQ(job.warnings[0].code, "ranks_assumed");
  for (const RankTrace& rank : job.ranks) {
    EXPECT_EQ(rank.device, "cuda:" + std::to_string(rank.rank));
    EXPECT_EQ(activities_of(rank, Class::compute), 21);
    EXPECT_EQ(activities_of(rank, Class::copy), 3);
    EXPECT_EQ(operations_of(rank), operations_of_three_steps());
    EXPECT_THAT(rank.steps, SizeIs(3));
  }
}

TEST(FixtureImport, DumpsOfAFlightRecorder) {
  for (const char* name : {"flight-recorder-pickle", "flight-recorder-json"}) {
    const Job job = imported({name});
    EXPECT_THAT(ranks_of(job), ElementsAre(0, 1, 2, 3)) << name;
    EXPECT_THAT(job.sources, ElementsAre("flight recorder")) << name;
  }
}

// Of the files of two jobs those of the one with most ranks are taken.
TEST(FixtureImport, FilesOfTwoJobsAreToldApart) {
  const Job job = imported({"cpu-2rank", "gpu-4rank"});
  EXPECT_THAT(ranks_of(job), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(job.world_size, 4);
  ASSERT_THAT(job.warnings, SizeIs(2));
  for (const Warning& warning : job.warnings) EXPECT_EQ(warning.code, "world_size_mismatch");
}

}  // namespace
}  // namespace lockstep::analyzer

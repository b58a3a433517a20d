#include "analyzer/import/rank/group_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;

std::vector<std::string> named(std::vector<JobGroup> groups) {
  Job job;
  job.groups = std::move(groups);
  name_groups(job);
  std::vector<std::string> names;
  for (const JobGroup& group : job.groups) names.push_back(group.name);
  return names;
}

TEST(NameGroups, AreTheirDescriptionsWhereTheNameIsANumber) {
  EXPECT_THAT(
      named({{"0", "default_pg", {0, 1, 2, 3}},
             {"1", "mesh_dp", {0, 1}},
             {"2", "mesh_dp", {2, 3}},  // apart by its ranks
             {"ee5ba04a8aaf3acc1", "TENSOR_MODEL_PARALLEL_GROUP", {0, 2}},
             {"3", "undefined", {1, 3}},
             {"4", "", {0, 3}},
             {"mine", "described", {0, 1}}}),
      ElementsAre("default_pg", "mesh_dp", "mesh_dp", "TENSOR_MODEL_PARALLEL_GROUP", "3", "4", "mine"));
}

// Of one group some ranks know the description, others do not: it stays one.
TEST(NameGroups, OneGroupHasOneName) {
  EXPECT_THAT(named({{"1", "", {0, 1}}, {"1", "mesh_dp", {0, 1}}}), ElementsAre("mesh_dp", "mesh_dp"));
}

// Operations of two groups would be taken for one's.
TEST(NameGroups, GroupsOfTheSameRanksStayApart) {
  EXPECT_THAT(named({{"1", "mesh", {0, 1}}, {"2", "mesh", {0, 1}}, {"3", "dp", {0, 1}}, {"dp", "", {0, 1}}}),
              ElementsAre("mesh 1", "mesh 2", "dp 3", "dp"));
}

}  // namespace
}  // namespace lockstep::analyzer

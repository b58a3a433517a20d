// Groups have the names that the job gave them, wherever one reads or types them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "analyzer/analysis.h"
#include "analyzer/import/rank/group_names.h"
#include "analyzer/model/job_builder.h"
#include "analyzer/report/text.h"
#include "analyzer/restrict_report.h"
#include "analyzer/test_analysis.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;
using testing::Not;

// PyTorch numbers its groups; DeviceMesh and Megatron describe them.
Report report_of_numbered_groups() {
  JobBuilder builder;
  const std::uint32_t mesh = builder.group("1", {0, 1}, "mesh_dp"),
                      tensor = builder.group("2", {0, 1}, "TENSOR_MODEL_PARALLEL_GROUP");
  for (const std::int32_t rank : {0, 1}) {
    for (int step = 0; step < 2; ++step) {
      const Nanoseconds begin = step * 1000;
      builder.rank(rank).step(step, begin, begin + 900);
      builder.rank(rank).compute(begin, begin + 300).launched(begin, begin + 1);
      builder.rank(rank).all_reduce(begin + 300, begin + 400).in_group(mesh).launched(begin, begin + 1);
      builder.rank(rank).all_reduce(begin + 500, begin + 600).in_group(tensor).launched(begin, begin + 1);
    }
  }
  Job job = builder.build();
  name_groups(job);
  return checked_analysis(job).report;
}

TEST(NamedGroups, TablesOfGroupsAndLayersHaveTheJobsNames) {
  const Report report = report_of_numbered_groups();
  TextOptions options;
  options.page.width = 160;
  const std::string text = to_text(report, options);
  for (const char* heading : {"layers and buckets", "groups"}) {
    const std::size_t begin = text.find(std::string("\n") + heading);
    ASSERT_NE(begin, std::string::npos) << heading;
    EXPECT_THAT(text.substr(begin, 1200), HasSubstr("\"mesh_dp\"")) << heading;
    EXPECT_THAT(text.substr(begin, 1200), HasSubstr("\"TENSOR_MODEL_PARAL")) << heading;
  }
  EXPECT_THAT(text, Not(HasSubstr("\"1\"")));
}

TEST(NamedGroups, AReportOfOneIsAskedForByTheJobsName) {
  Report report = report_of_numbered_groups();
  EXPECT_THAT(restrict_report({.ranks = {}, .group = "3"}, report).error().message,
              HasSubstr("the groups are \"TENSOR_MODEL_PARALLEL_GROUP\", \"mesh_dp\""));
  ASSERT_TRUE(restrict_report({.ranks = {}, .group = "mesh_dp"}, report).ok());
  ASSERT_EQ(report.collectives.size(), 2U);
  for (const CollectiveReport& collective : report.collectives) EXPECT_EQ(collective.group_name, "mesh_dp");
  expect_invariants(report);
}

}  // namespace
}  // namespace lockstep::analyzer

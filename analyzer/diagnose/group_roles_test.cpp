// Which groups' collectives carry activations.
#include "analyzer/diagnose/group_roles.h"

#include <gtest/gtest.h>

#include <string_view>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

// Three steps of two ranks: g an all-gather, s a reduce-scatter, r an all-reduce, each behind compute.
// Whether their group carries activations.
bool carries_activations(std::string_view operations, const char* group_name = "default_pg") {
  JobBuilder job;
  const std::uint32_t group = job.group(group_name, {0, 1});
  for (int rank = 0; rank < 2; ++rank) {
    Nanoseconds now = 0;
    for (int step = 0; step < 3; ++step) {
      const Nanoseconds begin = now;
      for (const char one : operations) {
        job.rank(rank).compute(now, now + 100 * us).launched(now, now + 1);
        now += 100 * us;
        job.rank(rank)
            .collective(one == 'g'   ? Operation::all_gather
                        : one == 's' ? Operation::reduce_scatter
                                     : Operation::all_reduce,
                        now, now + 20 * us)
            .launched(now - 90 * us, now - 89 * us)
            .in_group(group);
        now += 20 * us;
      }
      job.rank(rank).step(step, begin, now);
      now += us;
    }
  }
  const Job built = job.build();
  const Report report = report_of(built);
  EXPECT_FALSE(report.collectives.empty());
  return ActivationGroups(built, report).has(report.collectives.front());
}

TEST(ActivationGroups, GatherAndScatterInTurnFromTheBeginningOn) {
  EXPECT_TRUE(carries_activations("gsgsgsgsrgsgsgsgs")) << "sequence parallelism by hand";
  EXPECT_TRUE(carries_activations("sgsgsgsgsgrrrsggsggsggs")) << "torchtitan: backward gathers twice";
}

TEST(ActivationGroups, AreNotThoseOfParameters) {
  EXPECT_FALSE(carries_activations("gggggsgsgsgs")) << "FSDP: two layers and more before the first gradients";
  EXPECT_FALSE(carries_activations("ggsgs")) << "FSDP of two layers";
  EXPECT_FALSE(carries_activations("ssssgggg")) << "the optimizer alone is sharded";
  EXPECT_FALSE(carries_activations("gsgs")) << "too few to tell";
  EXPECT_FALSE(carries_activations("rrrrrr"));
}

TEST(ActivationGroups, AreThoseWhoseNameSaysSo) {
  EXPECT_TRUE(carries_activations("rrrr", "mesh_tp"));
  EXPECT_TRUE(carries_activations("ggggg", "mp tp"));
}

}  // namespace
}  // namespace lockstep::analyzer

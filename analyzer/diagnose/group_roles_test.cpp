// Which groups' collectives carry activations.
#include "analyzer/diagnose/group_roles.h"

#include <gtest/gtest.h>

#include <string_view>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

// Three steps of two ranks: g an all-gather, s a reduce-scatter, r an all-reduce, each behind compute, which
// is forward but for what stands behind a "|". Whether the first of their operations carries activations.
bool carries_activations(std::string_view operations, const char* group_name = "default_pg",
                         bool passes_known = true) {
  JobBuilder job;
  const std::uint32_t group = job.group(group_name, {0, 1});
  for (int rank = 0; rank < 2; ++rank) {
    Nanoseconds now = 0;
    for (int step = 0; step < 3; ++step) {
      const Nanoseconds begin = now;
      bool is_backward = false;
      for (const char one : operations) {
        if (one == '|') is_backward = !is_backward;
        if (one == '|') continue;
        const Pass pass = !passes_known ? Pass::other : is_backward ? Pass::backward : Pass::forward;
        job.rank(rank).pass(pass, 0, -1, now, now + 100 * us).launched(now, now + 1);
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

TEST(ActivationGroups, ScatterInForwardPasses) {
  EXPECT_TRUE(carries_activations("gsgsgsgs|gsgsgsgs")) << "sequence parallelism by hand";
  EXPECT_TRUE(carries_activations("sgsgsgsgsgrrr|sggsggsggs")) << "torchtitan";
  EXPECT_FALSE(carries_activations("rgsgsgsgs|gsgsgsgsrrr")) << "what is all-reduced there may be gradients";
  EXPECT_FALSE(carries_activations("gsgsgsgs|gsgsgsgs", "default_pg", false))
      << "nobody knows which is forward";
}

TEST(ActivationGroups, AreNotThoseOfParameters) {
  EXPECT_FALSE(carries_activations("ggg|ggsgsgs")) << "FSDP: all layers before the first gradients";
  EXPECT_FALSE(carries_activations("g|s|g|s|g|s|g|s|")) << "of one unit, with four microbatches";
  EXPECT_FALSE(carries_activations("sggggg|gsgsgsgs")) << "one is left over from the step before";
  EXPECT_FALSE(carries_activations("|ssss|gggg")) << "the optimizer alone is sharded";
  EXPECT_FALSE(carries_activations("rr|rrrr"));
}

TEST(ActivationGroups, AreThoseWhoseNameSaysSo) {
  EXPECT_TRUE(carries_activations("rr|rr", "mesh_tp"));
  EXPECT_TRUE(carries_activations("ggggg", "mp tp"));
}

}  // namespace
}  // namespace lockstep::analyzer

// A slow GPU among the stages of a pipeline, whose kernels alone are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "analyzer/diagnose/test_reports.h"
#include "analyzer/model/pipeline_job.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int kMicrobatches = 4, kReplicas = 2;

// All forward passes, then all backward passes, by messages between neighbours; replicas reduce at the end.
// Ranks: stage · kReplicas + replica. The last stage has a kernel of its own besides.
class Pipelines {
 public:
  Pipelines(int stages, int slow_rank) : stages_(stages), slow_rank_(slow_rank), free_(stages * kReplicas) {
    for (int replica = 0; replica < kReplicas; ++replica) {
      std::vector<std::int32_t> ranks;
      for (int stage = 0; stage < stages; ++stage) ranks.push_back(stage * kReplicas + replica);
      pipelines_.push_back(
          job_.group("pp" + std::to_string(replica), ranks, "PIPELINE_MODEL_PARALLEL_GROUP"));
    }
    for (int stage = 0; stage < stages; ++stage)
      replicas_.push_back(
          job_.group("dp" + std::to_string(stage), {stage * kReplicas, stage * kReplicas + 1}));
  }

  Report run(int steps) {
    for (int step = 0; step < steps; ++step) {
      const Nanoseconds begin = *std::max_element(free_.begin(), free_.end()) + 10 * us;
      std::fill(free_.begin(), free_.end(), begin + 50 * us);
      for (const bool is_forward : {true, false}) pass_all(is_forward, begin);
      for (int stage = 0; stage < stages_; ++stage) reduce(stage, begin);
      const Nanoseconds end = *std::max_element(free_.begin(), free_.end());
      for (int rank = 0; rank < stages_ * kReplicas; ++rank) job_.rank(rank).step(step, begin, end);
    }
    Job job = job_.build();
    for (RankTrace& rank : job.ranks) rank.device = "cuda:0";
    return report_of(job);
  }

 private:
  void pass_all(bool is_forward, Nanoseconds launched) {
    for (int replica = 0; replica < kReplicas; ++replica)
      for (int microbatch = 0; microbatch < kMicrobatches; ++microbatch)
        for (int i = 0; i < stages_; ++i) {
          const int stage = is_forward ? i : stages_ - 1 - i, next = is_forward ? stage + 1 : stage - 1;
          const int rank = stage * kReplicas + replica;
          compute(rank, is_forward, launched);
          if (next >= 0 && next < stages_) send(rank, next * kReplicas + replica, replica, launched);
        }
  }

  void compute(int rank, bool is_forward, Nanoseconds launched) {
    Nanoseconds& now = free_[static_cast<std::size_t>(rank)];
    ++calls_;
    const Nanoseconds gemm = (is_forward ? 300 : 600) * us + (calls_ * 7 % 5) * us;
    kernel(rank, now, rank == slow_rank_ ? gemm * 13 / 10 : gemm, "gemm", launched);
    if (rank >= (stages_ - 1) * kReplicas)
      kernel(rank, now, rank == slow_rank_ ? 26 * us : 20 * us, "head", launched);
  }

  void kernel(int rank, Nanoseconds& now, Nanoseconds takes, const char* name, Nanoseconds launched) {
    job_.rank(rank).compute(now, now + takes, name).launched(launched, launched + us).shaped(100, 100);
    now += takes;
  }

  void send(int from, int to, int replica, Nanoseconds launched) {
    Nanoseconds &sender = free_[static_cast<std::size_t>(from)],
                &receiver = free_[static_cast<std::size_t>(to)];
    const Nanoseconds end = std::max(sender, receiver) + 20 * us;
    const std::uint32_t group = pipelines_[static_cast<std::size_t>(replica)];
    job_.rank(from).send(to, sender, end).launched(launched, launched + us).in_group(group);
    job_.rank(to).recv(from, receiver, end).launched(launched, launched + us).in_group(group);
    sender = receiver = end;
  }

  void reduce(int stage, Nanoseconds launched) {
    const auto first = static_cast<std::size_t>(stage * kReplicas);
    const Nanoseconds end = std::max(free_[first], free_[first + 1]) + 100 * us;
    for (std::size_t rank = first; rank < first + kReplicas; ++rank) {
      job_.rank(static_cast<std::int32_t>(rank))
          .all_reduce(free_[rank], end)
          .launched(launched, launched + us)
          .in_group(replicas_[static_cast<std::size_t>(stage)]);
      free_[rank] = end;
    }
  }

  int stages_, slow_rank_;
  std::int64_t calls_ = 0;
  JobBuilder job_;
  std::vector<std::uint32_t> pipelines_, replicas_;
  std::vector<Nanoseconds> free_;  // by rank: until when it is busy
};

// Its neighbours have other kernels to run before a message, or none: that is no more work, nor is another
// stage at fault for computing while this one waits.
TEST(SlowStage, HasNoMoreToComputeThanItsReplicas) {
  for (const int stages : {2, 4})
    for (int slow = 0; slow < stages * kReplicas; slow += 3) {
      const Report report = Pipelines(stages, slow).run(30);
      const std::string which = std::to_string(stages) + " stages, slow rank " + std::to_string(slow);
      for (const Finding& one : report.findings) {
        EXPECT_NE(one.reason, "more_work") << which << ": " << one.title;
        if (one.accuses == Accused::rank) {
          EXPECT_EQ(one.rank, slow) << which << ": " << one.title;
        }
        EXPECT_THAT(one.title, Not(HasSubstr("launches its work"))) << which;
      }
      for (const BlameReport& blame : report.blame) {
        EXPECT_THAT(blame.root_cause, Not(HasSubstr("not at all"))) << which;
        EXPECT_THAT(blame.root_cause, Not(HasSubstr("do not run meanwhile"))) << which;
      }
    }
}

// Thirty steps of pipelines of two stages, replicas of each other. The last stages of the first `slow` of
// them compute 6 % longer: in their layers, beside these, or nobody knows of layers. They also come later to
// an all-reduce of the loss over all ranks, as their first stages do to one of the pipeline before.
enum class Longer { in_layers, beside_layers, layers_unknown };

Report last_stages_compute_longer(int pipelines, int slow, Longer where) {
  JobBuilder job;
  std::vector<PipelinePlan> plans;
  std::vector<std::uint32_t> groups;
  for (int replica = 0; replica < pipelines; ++replica) {
    PipelinePlan plan{.stages = 2,
                      .order = one_forward_one_backward(2, 4),
                      .forward = 1000 * us,
                      .backward = 2000 * us,
                      .slower_beside_layers = where == Longer::beside_layers,
                      .layers_of_chunk = where == Longer::layers_unknown ? 0 : 2,
                      .first_rank = 2 * replica,
                      .group = "pipeline" + std::to_string(replica)};
    if (replica < slow) {
      plan.slow_stage = 1;
      plan.slower_by = 95 * us;
    }
    groups.push_back(job.group(plan.group, ranks_of(plan), "PIPELINE_MODEL_PARALLEL_GROUP"));
    plans.push_back(std::move(plan));
  }
  std::vector<std::int32_t> ranks(static_cast<std::size_t>(2 * pipelines));
  std::iota(ranks.begin(), ranks.end(), 0);
  const std::uint32_t all = job.group("all", ranks);
  Nanoseconds end = 0;
  for (int step = 0; step < 30; ++step) {
    const Nanoseconds begin = end;
    std::vector<Nanoseconds> ready;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      plans[i].begin = begin + 10 * us;
      const Nanoseconds passed = add_pipeline_step(job, groups[i], plans[i]);
      const Nanoseconds longer = plans[i].slow_stage < 0 ? 2 * us : 700 * us, reduced = passed + longer,
                        told = reduced + longer;
      RankBuilder &first = job.rank(plans[i].first_rank), &last = job.rank(plans[i].first_rank + 1);
      first.compute(passed, reduced, "clip");
      first.all_reduce(reduced, reduced + us).in_group(groups[i]);
      last.all_reduce(plans[i].begin + (passed - plans[i].begin) * 9 / 10, reduced + us).in_group(groups[i]);
      last.compute(reduced + us, told, "loss");
      ready.insert(ready.end(), {reduced + us, told});
    }
    end = *std::max_element(ready.begin(), ready.end()) + 10 * us;
    for (const std::int32_t rank : ranks) {
      job.rank(rank).all_reduce(ready[static_cast<std::size_t>(rank)], end).in_group(all);
      job.rank(rank).step(step, begin, end);
    }
  }
  Job built = job.build();
  for (RankTrace& rank : built.ranks) {
    rank.device = "cuda:" + std::to_string(rank.rank);
    for (Activity& activity : rank.activities) activity.launch_begin = activity.launch_end = activity.begin;
  }
  return report_of(built);
}

void expect_may_be_its_work(const Report& report, std::int32_t rank) {
  for (const Finding& one : report.findings) EXPECT_NE(one.accuses, Accused::rank) << one.title;
  const RankLateness& late = report.lateness.ranks.at(static_cast<std::size_t>(rank));
  EXPECT_TRUE(late.is_late);
  EXPECT_EQ(late.not_accused_because, NotAccused::stage_computes_more);
}

// Seen of DeepSpeed's: the last one computes the loss as well.
TEST(SlowStage, MayHaveMoreToComputeAndIsNotAccused) {
  expect_may_be_its_work(last_stages_compute_longer(1, 1, Longer::layers_unknown), 1);
  expect_may_be_its_work(last_stages_compute_longer(1, 1, Longer::beside_layers), 1);
}

TEST(SlowStage, IsAccusedWhereItsLayersAreSlower) {
  EXPECT_EQ(finding(last_stages_compute_longer(1, 1, Longer::in_layers), "straggler_persistent").rank, 1);
}

TEST(SlowStage, IsAccusedWhereItsReplicasAreNotAsSlow) {
  EXPECT_EQ(finding(last_stages_compute_longer(3, 1, Longer::layers_unknown), "straggler_persistent").rank,
            1);
  for (const Finding& one : last_stages_compute_longer(3, 3, Longer::layers_unknown).findings)
    EXPECT_NE(one.accuses, Accused::rank) << one.title;
}

TEST(SlowStage, OfSeveralPipelinesTheLossIsSaidOfAll) {
  const Finding bubble = finding(Pipelines(4, -1).run(30), "pipeline_bubble");
  EXPECT_THAT(bubble.title, HasSubstr("the stages of 2 pipelines idle for "));
  EXPECT_THAT(bubble.title, HasSubstr("of their regions; those of \"pp"));
}

}  // namespace
}  // namespace lockstep::analyzer

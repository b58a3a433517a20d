#include "analyzer/metrics/theory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/model/job_builder.h"

namespace lockstep::analyzer {
namespace {

using enum TheoryQuantity;
using testing::IsEmpty;

constexpr std::int64_t kParameters = 1200;  // Ψ

// Adam in mixed precision, 4 ranks, microbatches of 3.
TrainingSetup setup_of(int stage, std::int64_t ranks = 4, std::int64_t accumulation = 1) {
  TrainingSetup setup;
  setup.parameters = kParameters;
  setup.parameter_bytes = 2;
  setup.gradient_bytes = 2;
  setup.optimizer_bytes = 12;
  setup.data_parallel = ranks;
  setup.optimizer_over = stage >= 1 ? ranks : 1;
  setup.gradients_over = stage >= 2 ? ranks : 1;
  setup.parameters_over = stage >= 3 ? ranks : 1;
  setup.samples = 3;
  setup.accumulation = accumulation;
  return setup;
}

Job job_of(const TrainingSetup& setup, std::int32_t ranks = 4) {
  JobBuilder builder;
  for (std::int32_t rank = 0; rank < ranks; ++rank) builder.rank(rank).trace().training = setup;
  return builder.build();
}

std::optional<TheoryReport> row(const std::vector<TheoryReport>& rows, TheoryQuantity quantity) {
  for (const TheoryReport& one : rows)
    if (one.quantity == quantity) return one;
  return std::nullopt;
}

double theory(const Job& job, TheoryQuantity quantity) {
  const std::optional<TheoryReport> found = row(compare_with_theory(job, Report{}), quantity);
  return found ? found->theory : -1;
}

double state(const Job& job) {
  return theory(job, parameters) + theory(job, gradients) + theory(job, optimizer_state);
}

// Rajbhandari et al., figure 1: 16Ψ; 4Ψ + 12Ψ/n; 2Ψ + 14Ψ/n; 16Ψ/n.
TEST(Theory, StateIsThatOfZerosStages) {
  EXPECT_DOUBLE_EQ(state(job_of(setup_of(0))), 16 * 1200);
  EXPECT_DOUBLE_EQ(state(job_of(setup_of(1))), 4 * 1200 + 12 * 1200 / 4);
  EXPECT_DOUBLE_EQ(state(job_of(setup_of(2))), 2 * 1200 + 14 * 1200 / 4);
  EXPECT_DOUBLE_EQ(state(job_of(setup_of(3))), 16 * 1200 / 4);
}

TEST(Theory, TheFormulaHasWhatIsDividedAndOverHowMany) {
  const auto found = [](int stage) {
    return row(compare_with_theory(job_of(setup_of(stage)), {}), optimizer_state);
  };
  EXPECT_EQ(std::get<PartOfModel>(found(0)->formula), (PartOfModel{12, 1}));
  EXPECT_EQ(std::get<PartOfModel>(found(1)->formula), (PartOfModel{12, 4}));
}

// The same, section 7: stages 1 and 2 send what data parallelism does, 2Ψ elements, stage 3 half as much
// again; in a ring each rank (n−1)/n of it.
TEST(Theory, VolumeIsThatOfZerosStages) {
  const double ring = 3.0 / 4 * 1200 * 2;
  EXPECT_DOUBLE_EQ(theory(job_of(setup_of(0)), sent_by_collectives), 2 * ring);
  EXPECT_DOUBLE_EQ(theory(job_of(setup_of(1)), sent_by_collectives), 2 * ring);
  EXPECT_DOUBLE_EQ(theory(job_of(setup_of(2)), sent_by_collectives), 2 * ring);
  EXPECT_DOUBLE_EQ(theory(job_of(setup_of(3)), sent_by_collectives), 3 * ring);
}

TEST(Theory, TheFormulaOfTrafficHasItsBytes) {
  const auto formula = [](const TrainingSetup& setup) {
    return row(compare_with_theory(job_of(setup), {}), sent_by_collectives)->formula;
  };
  EXPECT_EQ(std::get<SentByAllReduce>(formula(setup_of(0))), SentByAllReduce{2});
  EXPECT_EQ(std::get<SentWhereShared>(formula(setup_of(3))), (SentWhereShared{2, 4, std::nullopt}));
  TrainingSetup hybrid = setup_of(3);
  hybrid.parameters_over = hybrid.gradients_over = hybrid.optimizer_over = 2;
  EXPECT_EQ(std::get<SentWhereShared>(formula(hybrid)), (SentWhereShared{2, 4, 2}));
}

// What is kept whole is reduced once a step; divided gradients and parameters move for every microbatch.
TEST(Theory, AccumulationMovesWhatIsDividedAgain) {
  const double ring = 3.0 / 4 * 1200 * 2;
  EXPECT_DOUBLE_EQ(theory(job_of(setup_of(0, 4, 5)), sent_by_collectives), 2 * ring);
  EXPECT_DOUBLE_EQ(theory(job_of(setup_of(1, 4, 5)), sent_by_collectives), 2 * ring);
  EXPECT_DOUBLE_EQ(theory(job_of(setup_of(2, 4, 5)), sent_by_collectives), (5 + 1) * ring);
  EXPECT_DOUBLE_EQ(theory(job_of(setup_of(3, 4, 5)), sent_by_collectives), 15 * ring);
}

// Shared by 2 of 4 ranks: gathered twice and scattered among them, and what each then has, half, reduced
// between the two copies.
TEST(Theory, AHybridReducesBetweenItsCopies) {
  TrainingSetup setup = setup_of(3);
  setup.parameters_over = setup.gradients_over = setup.optimizer_over = 2;
  const double bytes = 1200 * 2;
  EXPECT_DOUBLE_EQ(theory(job_of(setup), sent_by_collectives),
                   1.0 / 2 * 3 * bytes + 2 * (1.0 / 2) * bytes / 2);
}

// Parameters and gradients told to be divided, and nothing of the optimizer.
TEST(Theory, WhateverIsDividedIsScatteredAndGathered) {
  TrainingSetup setup = setup_of(3);
  setup.optimizer_over.reset();
  EXPECT_DOUBLE_EQ(theory(job_of(setup), sent_by_collectives), 3 * (3.0 / 4 * 1200 * 2));
}

TEST(Theory, ARankThatMeasuredGoesBeforeOneThatDidNot) {
  Report report;
  report.counters = {{"memory gradients", 1, 1, 5, 5, 5, {}}};
  const auto found = row(compare_with_theory(job_of(setup_of(1)), report), gradients);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 1);
  EXPECT_EQ(found->measured, 5);
}

TEST(Theory, WhatTheProgramSaysOfItsTrafficCounts) {
  TrainingSetup setup = setup_of(3, 4, 5);
  setup.gathers = 5;
  setup.reductions = 1;
  EXPECT_DOUBLE_EQ(theory(job_of(setup), sent_by_collectives), 3.0 / 4 * 6 * 1200 * 2);
}

TEST(Theory, MemoryIsOfTheRankThatHoldsMost) {
  Report report;
  report.counters = {{"memory parameters", 0, 1, 5000, 5000, 5000, {}},
                     {"memory parameters", 2, 3, 100, 9600, 4800, {}},
                     {"memory allocated", 1, 1, 1e6, 1e6, 1e6, {}}};
  const auto found = row(compare_with_theory(job_of(setup_of(1)), report), parameters);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 2);
  EXPECT_EQ(found->measured, 9600);
  EXPECT_DOUBLE_EQ(found->theory, 2400);
  EXPECT_DOUBLE_EQ(found->ratio().value(), 4);
  EXPECT_EQ(row(compare_with_theory(job_of(setup_of(1)), report), gradients)->measured, std::nullopt);
}

TEST(Theory, TrafficIsMeasuredOverAllGroupsAndTheirRanks) {
  GroupOperation reduce{Operation::all_reduce, 10, 4000, 400.0, 600.0, 0, 0, 0, {}, {}};
  GroupOperation send{Operation::send_recv, 10, 4000, 400.0, 900.0, 0, 0, 0, {}, {}};
  Report report;
  report.world_size = 4;
  report.groups = {{"all", {0, 1, 2, 3}, {reduce}}, {"pair", {0, 1}, {reduce, send}}};
  const auto found = row(compare_with_theory(job_of(setup_of(0)), report), sent_by_collectives);
  // Messages are not data parallelism's; in the pair two of four ranks send.
  EXPECT_DOUBLE_EQ(found->measured.value(), 600 + 600 * 2.0 / 4);
  report.ranks_missing = {3};
  EXPECT_EQ(row(compare_with_theory(job_of(setup_of(0)), report), sent_by_collectives)->measured,
            std::nullopt);
}

// Two copies of a model on two stages each; 3 microbatches of 3 samples, of which one rank computes one more
// in the second step.
TEST(Theory, TheEffectiveBatchIsCountedFromForwardPasses) {
  JobBuilder builder;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    RankBuilder& one = builder.rank(rank);
    one.trace().training = setup_of(0, 2, 3);
    for (std::uint32_t step = 0; step < 3; ++step) {
      one.step(10 + step, 100 * step, 100 * step + 100);
      for (int microbatch = 0; microbatch < (rank == 1 && step == 1 ? 4 : 3); ++microbatch) {
        const Nanoseconds begin = 100 * step + 10 * microbatch;
        for (int layer = 0; layer < 2; ++layer)
          one.forward(layer, microbatch, begin + layer, begin + layer + 1).in_step(step);
        one.backward(0, microbatch, begin + 2, begin + 3).in_step(step);
      }
    }
  }
  Report report;
  for (const std::int64_t step : {10, 11, 12}) {
    report.steps.emplace_back();
    report.steps.back().step = step;
  }
  auto found = row(compare_with_theory(builder.build(), report), effective_batch);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->theory, 3 * 2 * 3);
  EXPECT_DOUBLE_EQ(found->measured.value(), 3 * 2 * 3);
  EXPECT_EQ(found->rank, std::nullopt);
  EXPECT_EQ(std::get<SamplesOfStep>(found->formula), (SamplesOfStep{3, 2, 3}));
  // Of the step that has one more, 13 microbatches go through 2 stages.
  report.steps = {report.steps[1]};
  found = row(compare_with_theory(builder.build(), report), effective_batch);
  EXPECT_DOUBLE_EQ(found->measured.value(), 3 * 13 / 2.0);
}

TEST(Theory, NothingIsClaimedOfWhatIsNotTold) {
  EXPECT_THAT(compare_with_theory(job_of(TrainingSetup{}), Report{}), IsEmpty());
  JobBuilder untold;
  untold.rank(0).compute(0, 10);
  EXPECT_THAT(compare_with_theory(untold.build(), Report{}), IsEmpty());
  TrainingSetup contradictory = setup_of(3);
  contradictory.data_parallel = 2;  // divided over more ranks than there are
  EXPECT_EQ(theory(job_of(contradictory), sent_by_collectives), -1);
}

}  // namespace
}  // namespace lockstep::analyzer

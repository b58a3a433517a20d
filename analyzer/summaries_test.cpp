// Tables of groups, layers and counters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "analyzer/analysis.h"
#include "analyzer/model/job_builder.h"
#include "analyzer/test_analysis.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;

Report report_of(const JobBuilder& job, const AnalysisOptions& options = {}) {
  return checked_analysis(job.build(), options).report;
}

// Four ranks, two steps; each step an all-reduce of 1000 bytes among all, of which rank 0 hides a part, and a
// message of 600 bytes from rank 0 to 1; before the steps a broadcast.
JobBuilder grouped_job() {
  JobBuilder job;
  const std::uint32_t world = job.group("world", {0, 1, 2, 3});
  const std::uint32_t pair = job.group("pipeline", {0, 1});
  for (int rank = 0; rank < 4; ++rank) {
    job.rank(rank).collective(Operation::broadcast, 0, 20).root(0).in_group(world).bytes(4000).launched(0, 0);
    for (int step = 0; step < 2; ++step) {
      const Nanoseconds begin = 1000 * (step + 1);
      job.rank(rank).step(step, begin, begin + 900);
      const Nanoseconds arrival = begin + 10 * rank;
      job.rank(rank).all_reduce(arrival, begin + 130).in_group(world).bytes(1000).launched(arrival, arrival);
    }
  }
  for (int step = 0; step < 2; ++step) {
    const Nanoseconds begin = 1000 * (step + 1);
    job.rank(0).compute(begin + 20, begin + 60).launched(begin + 20, begin + 20);
    job.rank(0)
        .send(1, begin + 200, begin + 260)
        .in_group(pair)
        .bytes(600)
        .launched(begin + 200, begin + 200);
    job.rank(1)
        .recv(0, begin + 210, begin + 260)
        .in_group(pair)
        .bytes(600)
        .launched(begin + 210, begin + 210);
  }
  return job;
}

TEST(Groups, SumsByOperation) {
  const Report report = report_of(grouped_job());
  ASSERT_EQ(report.groups.size(), 2u);
  const GroupReport& world = report.groups[0];
  EXPECT_EQ(world.name, "world");
  EXPECT_THAT(world.ranks, ElementsAre(0, 1, 2, 3));
  ASSERT_EQ(world.operations.size(), 2u);
  const GroupOperation& reduce = world.operations[0];
  EXPECT_EQ(reduce.operation, Operation::all_reduce);
  EXPECT_EQ(reduce.count, 2);
  EXPECT_EQ(reduce.bytes, 2000);
  EXPECT_DOUBLE_EQ(*reduce.bytes_per_step_and_rank, 1000);
  EXPECT_DOUBLE_EQ(*reduce.wire_bytes_per_step_and_rank, 1500);  // 2 · 3/4
  EXPECT_EQ(reduce.wait_ns, 2 * (30 + 20 + 10));
  EXPECT_EQ(reduce.transfer_ns, 2 * 4 * 100);
  // Rank 0 computes 40 ns under it.
  EXPECT_EQ(reduce.exposed_ns, 2 * (130 + 120 + 110 + 100 - 40));
  EXPECT_DOUBLE_EQ(*reduce.busbw_wire_gbps, 1000.0 / 100 * 1.5);
  EXPECT_DOUBLE_EQ(*reduce.busbw_gbps, 1000.0 / 115 * 1.5);
  // What no step launched is in no figure per step.
  const GroupOperation& broadcast = world.operations[1];
  EXPECT_EQ(broadcast.bytes, 4000);
  EXPECT_EQ(broadcast.bytes_per_step_and_rank, std::nullopt);

  const GroupOperation& messages = report.groups[1].operations.at(0);
  EXPECT_EQ(messages.operation, Operation::send_recv);
  EXPECT_EQ(messages.count, 2);
  EXPECT_EQ(messages.bytes, 1200);
  EXPECT_DOUBLE_EQ(*messages.bytes_per_step_and_rank, 600);       // both sides of each
  EXPECT_DOUBLE_EQ(*messages.wire_bytes_per_step_and_rank, 300);  // one of two sends
  EXPECT_EQ(messages.wait_ns, 20);
  EXPECT_EQ(messages.exposed_ns, 2 * 110);
}

// Three buckets at once, and compute beside two of them and between: each instant of a rank is waiting,
// transfer or hidden once, however many operations it is in.
TEST(Groups, CountWhatIsExposedOnceWhereOperationsOverlap) {
  JobBuilder job;
  const std::uint32_t world = job.group("world", {0, 1});
  for (int k = 0; k < 3; ++k) {
    job.rank(0).all_reduce(100 + 10 * k, 200 + 10 * k).in_group(world);
    job.rank(1).all_reduce(150 + 10 * k, 200 + 10 * k).in_group(world);
  }
  job.rank(0).compute(0, 105).launched(0, 0);
  job.rank(0).compute(130, 160).launched(130, 130);
  job.rank(0).compute(190, 240).launched(190, 190);
  const Report report = report_of(job);
  const GroupOperation& row = report.groups.at(0).operations.at(0);
  EXPECT_EQ(row.wait_ns, 50) << "of rank 0, until the first one moves data";
  EXPECT_EQ(row.transfer_ns, 70 + 70);
  EXPECT_EQ(row.exposed_ns, (120 - 5 - 30 - 30) + 70);
  const WaitStateReport& state = report.wait_states.at(0);
  EXPECT_EQ(state.wait_ns, 70) << "from 100 until the last one moves data at 170";
  EXPECT_EQ(state.exposed_ns, 70 - 5 - 30);
  std::int64_t of_ranks = 0, communication = 0;
  for (const RankReport& rank : report.ranks) {
    of_ranks += rank.measures.collective_wait_ns;
    communication += rank.measures.exposed_communication_ns;
  }
  EXPECT_EQ(state.exposed_ns, of_ranks);
  EXPECT_EQ(row.exposed_ns, communication);
}

// A sum of eight bytes takes as long as it takes to start it.
TEST(Groups, SmallOperationsSayNothingOfBandwidth) {
  JobBuilder job;
  const auto dp = job.group("dp", {0, 1});
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    job.rank(rank).all_reduce(0, 1000).in_group(dp).sequence(0).bytes(100'000);
    for (int k = 1; k < 4; ++k)
      job.rank(rank)
          .all_reduce(2000 * k, 2000 * k + 1000)
          .in_group(dp)
          .sequence(k)
          .bytes(k == 3 ? 1000 : 999);
  }
  // 999 bytes are less than a hundredth of the largest, 1000 are not: of two, the lower one.
  EXPECT_DOUBLE_EQ(report_of(job).groups.at(0).operations.at(0).busbw_wire_gbps.value(), 1000.0 / 1000);
}

TEST(Groups, WhatIsNotKnownIsAbsent) {
  JobBuilder job;
  job.rank(0).all_reduce(0, 10);
  job.rank(1).all_reduce(0, 10);
  const GroupOperation row = report_of(job).groups.at(0).operations.at(0);
  EXPECT_EQ(row.bytes, std::nullopt);
  EXPECT_EQ(row.bytes_per_step_and_rank, std::nullopt);
  EXPECT_EQ(row.wire_bytes_per_step_and_rank, std::nullopt);
  EXPECT_EQ(row.busbw_wire_gbps, std::nullopt);
  EXPECT_EQ(row.wait_ns, 0);
}

TEST(WaitStates, AreNamedByWhatWasWaitedFor) {
  JobBuilder job;
  const std::uint32_t world = job.group("world", {0, 1, 2});
  // Arrivals of rank 0, 1 and 2 at 0, 10 and 30; everything ends at 50.
  const auto all = [&](Operation operation, Nanoseconds begin, std::int32_t root) {
    const Nanoseconds arrivals[] = {0, 10, 30};
    for (int rank = 0; rank < 3; ++rank) {
      job.rank(rank).collective(operation, begin + arrivals[rank], begin + 50).in_group(world);
      if (root >= 0) job.rank(rank).root(root);
    }
  };
  all(Operation::all_reduce, 0, -1);  // 30 + 20
  all(Operation::barrier, 100, -1);   // the same
  all(Operation::broadcast, 200, 2);  // the same, for the root
  all(Operation::reduce, 300, 0);     // 30 of the root
  all(Operation::scatter, 400, 0);    // the root was first: nobody waits
  all(Operation::gather, 500, -1);    // nobody knows the root: as n-to-n
  job.rank(0).send(1, 600, 660).in_group(world);
  job.rank(1).recv(0, 615, 660).in_group(world);  // the sender waits for 15
  job.rank(0).send(2, 725, 760).in_group(world);
  job.rank(2).recv(0, 700, 760).in_group(world);  // the receiver for 25
  job.rank(2).compute(710, 730);                  // and hides 15 of these
  const Report report = report_of(job);
  std::map<WaitState, WaitStateReport> states;
  for (const WaitStateReport& row : report.wait_states) states[row.state] = row;
  EXPECT_EQ(states.size(), 6U);
  EXPECT_EQ(states[WaitState::at_nxn].wait_ns, 2 * 50);
  EXPECT_EQ(states[WaitState::at_nxn].operations, 2);
  EXPECT_EQ(states[WaitState::at_nxn].waits, 4);
  EXPECT_EQ(states[WaitState::at_nxn].worst_rank, 0);
  EXPECT_EQ(states[WaitState::at_nxn].worst_rank_ns, 2 * 30);
  EXPECT_EQ(states[WaitState::at_barrier].wait_ns, 50);
  EXPECT_EQ(states[WaitState::late_broadcast].wait_ns, 50);
  EXPECT_EQ(states[WaitState::early_reduce].wait_ns, 30);
  EXPECT_EQ(states[WaitState::early_reduce].waits, 1);
  EXPECT_EQ(states[WaitState::late_receiver].wait_ns, 15);
  EXPECT_EQ(states[WaitState::late_receiver].worst_rank, 0);
  EXPECT_EQ(states[WaitState::late_sender].wait_ns, 25);
  EXPECT_EQ(states[WaitState::late_sender].exposed_ns, 10);
  std::int64_t sum = 0, of_collectives = 0;
  for (const WaitStateReport& row : report.wait_states) sum += row.wait_ns;
  for (const CollectiveReport& collective : report.collectives) of_collectives += collective.wait_ns;
  EXPECT_EQ(sum, of_collectives) << "every wait has one name";
  EXPECT_EQ(report.wait_states.front().state, WaitState::at_nxn) << "most waiting first";
}

TEST(Layers, PassesOverRanksAndMicrobatches) {
  JobBuilder job;
  for (int rank = 0; rank < 3; ++rank) {
    RankBuilder& builder = job.rank(rank);
    builder.step(4, 0, 10'000);
    Nanoseconds at = 0;
    const auto pass = [&](Pass pass, int layer, int microbatch, Nanoseconds length) {
      builder.pass(pass, layer, microbatch, at, at + length).launched(at, at);
      at += length;
    };
    for (int microbatch = 0; microbatch < 3; ++microbatch) {
      pass(Pass::forward, 0, microbatch, 10 + microbatch);
      pass(Pass::forward, 0, microbatch, 5 * rank);  // the same layer in two ranges
      pass(Pass::recompute, 0, microbatch, 7);
      pass(Pass::backward, 0, microbatch, 20);
      builder.compute(at, at + 4, "forward embedding")
          .part_of(Pass::forward, -1, microbatch)
          .launched(at, at);
      at += 4;
    }
    pass(Pass::optimizer, 0, -1, 100);
  }
  const Report report = report_of(job);
  ASSERT_EQ(report.layers.size(), 2u);
  EXPECT_EQ(report.layers[0].part, "embedding");
  EXPECT_EQ(report.layers[0].layer, std::nullopt);
  EXPECT_EQ(report.layers[0].forward->max_ns, 12);
  EXPECT_FALSE(report.layers[0].backward);
  const LayerReport& layer = report.layers[1];
  EXPECT_EQ(layer.part, "");
  EXPECT_EQ(layer.layer, 0);
  EXPECT_THAT(layer.ranks, ElementsAre(0, 1, 2));
  EXPECT_EQ(layer.slowest_rank, 2);
  ASSERT_TRUE(layer.forward && layer.backward && layer.recompute);
  EXPECT_EQ(layer.forward->min_ns, 33);
  EXPECT_EQ(layer.forward->median_ns, 48);
  EXPECT_EQ(layer.forward->max_ns, 63);
  EXPECT_EQ(layer.forward->slowest_rank, 2);
  // Turns: 10 11 12, 15 16 17, 20 21 22.
  EXPECT_EQ(layer.forward->microbatch_ns, 16);
  EXPECT_EQ(layer.backward->max_ns, 60);
  EXPECT_EQ(layer.recompute->microbatch_ns, 7);
}

TEST(Layers, OnlySelectedSteps) {
  JobBuilder job;
  job.rank(0).step(1, 0, 100).step(2, 100, 200);
  job.rank(0).forward(3, 0, 10, 20).launched(10, 10).forward(3, 0, 110, 150).launched(110, 110);
  AnalysisOptions options;
  options.first_step = 2;
  EXPECT_EQ(report_of(job, options).layers.at(0).forward->max_ns, 40);
  EXPECT_EQ(report_of(job).layers.at(0).forward->max_ns, 50);
}

// Two steps: each gathers layer 0 for 100 and layer 1, to which rank 1 comes 20 late, for 120; rank 0
// computes under the first half of both.
TEST(Buckets, LayersByTheProgramsNames) {
  JobBuilder job;
  const std::uint32_t group = job.group("fsdp", {0, 1});
  for (int rank = 0; rank < 2; ++rank) {
    for (int step = 0; step < 2; ++step) {
      const Nanoseconds begin = 1000 * step;
      job.rank(rank).step(step, begin, begin + 900);
      for (int layer = 0; layer < 2; ++layer) {
        const Nanoseconds at = begin + 200 * layer, late = rank == 1 && layer == 1 ? 20 : 0;
        if (rank == 0) job.rank(0).compute(at, at + 50).launched(at, at);
        job.rank(rank)
            .collective(Operation::all_gather, at + late, at + 100 + 20 * layer)
            .named("all_gather layer " + std::to_string(layer))
            .in_group(group)
            .bytes(64)
            .launched(at, at);
      }
    }
  }
  const Report report = report_of(job);
  ASSERT_EQ(report.buckets.size(), 2u);
  EXPECT_EQ(report.buckets[0].name, "layer 0");
  EXPECT_EQ(report.buckets[0].transfer_ns, 2 * 2 * 100);
  EXPECT_EQ(report.buckets[0].hidden_ns, 2 * 50);
  EXPECT_EQ(report.buckets[0].exposed_transfer_ns, 2 * (50 + 100));
  EXPECT_EQ(report.buckets[1].name, "layer 1");
  EXPECT_EQ(report.buckets[1].wait_ns, 2 * 20);
  EXPECT_EQ(report.buckets[1].exposed_wait_ns, 0);
  EXPECT_EQ(report.buckets[1].exposed_transfer_ns, 2 * (70 + 100));
  EXPECT_EQ(report.buckets[1].bytes, 64);
  EXPECT_EQ(report.collectives.at(1).name, "layer 1");
  // Kernels' names are no names among their kind.
  EXPECT_EQ(report_of(grouped_job()).collectives.at(0).name, "");
}

TEST(Counters, SummariesByNameAndRank) {
  JobBuilder job;
  for (const int rank : {0, 1}) {
    job.rank(rank).compute(0, 10);
    for (int i = 0; i < 3; ++i)
      job.rank(rank).counter("memory", 10 * i, 100 * (rank + 1) - (i == 1 ? 50 : 0));
  }
  job.rank(1).counter("loss", 5, 2.5).counter("loss", 6, std::numeric_limits<double>::quiet_NaN());
  job.rank(0).counter("broken", 5, std::numeric_limits<double>::infinity());
  const Report report = report_of(job);
  ASSERT_EQ(report.counters.size(), 3u);
  EXPECT_EQ(report.counters[0].name, "loss");
  EXPECT_EQ(report.counters[0].rank, 1);
  EXPECT_EQ(report.counters[0].points, 2);
  EXPECT_EQ(report.counters[0].last, 2.5);
  EXPECT_EQ(report.counters[1].name, "memory");
  EXPECT_EQ(report.counters[1].rank, 0);
  EXPECT_EQ(report.counters[2].min, 150);
  EXPECT_EQ(report.counters[2].max, 200);
  EXPECT_EQ(report.counters[2].last, 200);
}

}  // namespace
}  // namespace lockstep::analyzer

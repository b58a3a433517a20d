#include "analyzer/import/rank/settle_communication.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using trace::LaneKind;
using trace::Operation;

class Settle : public testing::Test {
 protected:
  Settle() {
    rank_.trace.lanes = {{LaneKind::device_stream, 7, "stream 7"}, {LaneKind::compute_thread, 1, "thread 1"}};
  }
  void add(Nanoseconds begin, Nanoseconds end, const char* name, Class activity_class = Class::compute,
           std::uint32_t lane = 0) {
    Activity activity;
    activity.begin = begin, activity.end = end;
    activity.launch_begin = begin - 2, activity.launch_end = begin - 1;
    activity.name = rank_.strings.intern(name);
    activity.lane = lane;
    activity.activity_class = activity_class;
    rank_.trace.activities.push_back(activity);
  }
  std::vector<Class> classes() const {
    std::vector<Class> all;
    for (const Activity& activity : rank_.trace.activities) all.push_back(activity.activity_class);
    return all;
  }
  RankImport rank_;
};

TEST_F(Settle, AKernelThatComputesAndCommunicatesIsBoth) {
  add(10, 20, "sgemm");
  add(30, 70, "_fused_matmul_reduce_scatter_kernel");
  add(80, 90, "_fused_matmul_reduce_scatter_kernel");
  settle_communication(rank_, nullptr);
  finish(rank_);
  EXPECT_THAT(classes(), ElementsAre(Class::compute, Class::compute, Class::collective, Class::compute,
                                     Class::collective));
  const Activity& computes = rank_.trace.activities[1];
  const Activity& communicates = rank_.trace.activities[2];
  EXPECT_EQ(communicates.begin, 30);
  EXPECT_EQ(communicates.end, 70);
  EXPECT_EQ(communicates.launch_begin, computes.launch_begin);
  EXPECT_NE(communicates.lane, computes.lane);  // a lane does one thing at a time
  EXPECT_EQ(rank_.trace.lanes[communicates.lane].kind, LaneKind::communication);
  ASSERT_EQ(rank_.trace.communications.size(), 2U);
  EXPECT_EQ(rank_.trace.communications[0].operation, Operation::reduce_scatter);
  EXPECT_EQ(rank_.trace.communications[0].activity, 2U);
  ASSERT_EQ(rank_.warnings.size(), 1U);
  EXPECT_EQ(rank_.warnings[0].code, "fused_communication");
  EXPECT_THAT(rank_.warnings[0].message, HasSubstr("2 kernels compute and communicate at once"));
}

// An operator of that name on the CPU is no kernel.
TEST_F(Settle, OnlyWhatRunsOnADeviceIsBoth) {
  add(10, 20, "_fused_matmul_reduce_scatter_kernel", Class::compute, 1);
  settle_communication(rank_, nullptr);
  EXPECT_THAT(classes(), ElementsAre(Class::compute));
  EXPECT_THAT(rank_.warnings, IsEmpty());
}

TEST_F(Settle, WhatTheUserNamesCommunicates) {
  add(10, 20, "my_ring");
  add(30, 40, "Memcpy PtoP", Class::copy);
  add(50, 60, "my_ring", Class::sync);
  add(70, 80, "allreduce_of_ours", Class::unclassified);
  add(90, 95, "sgemm");
  const auto patterns = CommunicationPatterns::parse({"my_ring=all_gather", "PtoP=send", "of_ours"});
  ASSERT_TRUE(patterns.ok());
  settle_communication(rank_, patterns.value().get());
  finish(rank_);
  EXPECT_THAT(classes(),
              ElementsAre(Class::collective, Class::p2p, Class::sync, Class::collective, Class::compute));
  ASSERT_EQ(rank_.trace.communications.size(), 3U);
  EXPECT_EQ(rank_.trace.communications[0].operation, Operation::all_gather);
  EXPECT_EQ(rank_.trace.communications[1].operation, Operation::send);
  EXPECT_EQ(rank_.trace.communications[2].operation, Operation::all_reduce);
}

}  // namespace
}  // namespace lockstep::analyzer

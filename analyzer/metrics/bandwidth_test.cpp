#include "analyzer/metrics/bandwidth.h"

#include <gtest/gtest.h>

namespace lockstep::analyzer {
namespace {

using trace::Operation;

TEST(Bandwidth, BusFactorsOfNcclTests) {
  EXPECT_DOUBLE_EQ(*bus_factor(Operation::all_reduce, 8), 14.0 / 8);
  for (const Operation operation : {Operation::all_gather, Operation::reduce_scatter, Operation::all_to_all,
                                    Operation::gather, Operation::scatter}) {
    EXPECT_DOUBLE_EQ(*bus_factor(operation, 8), 7.0 / 8) << trace::to_string(operation);
  }
  for (const Operation operation : {Operation::broadcast, Operation::reduce, Operation::send_recv}) {
    EXPECT_DOUBLE_EQ(*bus_factor(operation, 8), 1) << trace::to_string(operation);
  }
  EXPECT_FALSE(bus_factor(Operation::barrier, 8).has_value());
  EXPECT_FALSE(bus_factor(Operation::all_reduce, 1).has_value());
}

TEST(Bandwidth, BytesANanosecondAreGigabytesASecond) {
  EXPECT_DOUBLE_EQ(*bandwidth_gbps(3'000'000, 1'000'000), 3);
  EXPECT_FALSE(bandwidth_gbps(-1, 10).has_value());
  EXPECT_FALSE(bandwidth_gbps(100, 0).has_value());
}

}  // namespace
}  // namespace lockstep::analyzer

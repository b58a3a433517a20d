#include "viewer/timeline/counter_value.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace lockstep::viewer {
namespace {

using Points = std::vector<analyzer::CounterPoint>;

TEST(CounterValue, NamesTellUnits) {
  EXPECT_EQ(unit_of("memory peak").kind, CounterUnit::Kind::bytes);
  EXPECT_EQ(unit_of("memory resident (bytes)").kind, CounterUnit::Kind::bytes);
  EXPECT_EQ(unit_of("gpu 0 memory clock (MHz)").kind, CounterUnit::Kind::plain);
  EXPECT_EQ(unit_of("gpu 0 memory clock (MHz)").suffix, " MHz");
  EXPECT_EQ(unit_of("main thread run-queue delay (share)").kind, CounterUnit::Kind::share);
  EXPECT_EQ(unit_of("network eth0 sent (bytes/s)").suffix, "/s");
  EXPECT_TRUE(unit_of("page faults minor (per s)").holds_before);
  EXPECT_FALSE(unit_of("loss").holds_before);
  EXPECT_EQ(title_of_counter("page faults minor (per s)"), "page faults minor");
  EXPECT_EQ(title_of_counter("loss"), "loss");
  EXPECT_EQ(title_of_counter("odd ("), "odd (");
  EXPECT_EQ(title_of_counter(""), "");
}

TEST(CounterValue, ValuesAreReadable) {
  EXPECT_EQ(format_value(64029528, unit_of("memory peak")), "61.1 MiB");
  EXPECT_EQ(format_value(512, unit_of("memory peak")), "512 B");
  EXPECT_EQ(format_value(3.5 * 1024 * 1024 * 1024, unit_of("sent (bytes/s)")), "3.50 GiB/s");
  EXPECT_EQ(format_value(0.125, unit_of("delay (share)")), "12.5 %");
  EXPECT_EQ(format_value(1410, unit_of("SM clock (MHz)")), "1410 MHz");
  EXPECT_EQ(format_value(123456, unit_of("page faults (per s)")), "123 k/s");
  EXPECT_EQ(format_value(3.88605, unit_of("loss")), "3.886");
  EXPECT_EQ(format_value(-2, unit_of("loss")), "−2");
  EXPECT_EQ(format_value(std::numeric_limits<double>::quiet_NaN(), unit_of("loss")), "–");
}

TEST(CounterValue, ValuesHoldUntilTheNextPointOrSinceTheOneBefore) {
  const Points points{{10, 1}, {20, 2}, {30, 3}};
  const CounterUnit gauge = unit_of("loss"), rate = unit_of("faults (per s)");
  EXPECT_EQ(value_at(points, 9, gauge), std::nullopt);
  EXPECT_EQ(value_at(points, 10, gauge), 1);
  EXPECT_EQ(value_at(points, 19, gauge), 1);
  EXPECT_EQ(value_at(points, 99, gauge), 3);
  EXPECT_EQ(value_at(points, 9, rate), std::nullopt);
  EXPECT_EQ(value_at(points, 11, rate), 2);
  EXPECT_EQ(value_at(points, 20, rate), 2);
  EXPECT_EQ(value_at(points, 31, rate), std::nullopt);
  EXPECT_EQ(value_at({}, 5, gauge), std::nullopt);
}

}  // namespace
}  // namespace lockstep::viewer

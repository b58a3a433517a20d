#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/import/run/run.h"
#include "tests/temporary_folder.h"

namespace lockstep::analyzer::run {
namespace {

using testing::HasSubstr;

constexpr const char* kGood =
    R"({"format": "lockstep.clock/1", "clock": "b", "peer": "a", "exchanges": [[10, 5, 6, 30], [40, 35, 35, 60]]})";

Result<ClockLog> read(const std::string& text) {
  const test::TemporaryFolder folder;
  return read_clock_log(folder.write("clock-b-1.json", text));
}

TEST(ClockLog, IsRead) {
  const Result<ClockLog> log = read(kGood);
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_EQ(log.value().clock, "b");
  EXPECT_EQ(log.value().peer, "a");
  ASSERT_EQ(log.value().exchanges.size(), 2u);
  EXPECT_EQ(log.value().exchanges[1].asked, 40);
  EXPECT_EQ(log.value().exchanges[1].heard, 35);
  EXPECT_EQ(log.value().exchanges[1].answered, 35);
  EXPECT_EQ(log.value().exchanges[1].received, 60);
}

TEST(ClockLog, CutAnywhereItIsRefusedAndNamed) {
  const std::string good = kGood;
  for (std::size_t size = 0; size < good.size(); ++size) {
    const Result<ClockLog> log = read(good.substr(0, size));
    ASSERT_FALSE(log.ok()) << size;
    EXPECT_THAT(log.error().message, HasSubstr("clock-b-1.json"));
  }
}

TEST(ClockLog, WhatIsWrongIsSaid) {
  const auto message = [](const std::string& text) { return read(text).error().message; };
  EXPECT_THAT(message("[]"), HasSubstr("no JSON object"));
  EXPECT_THAT(message(R"({"format": "lockstep.clock/9"})"), HasSubstr("its format is 'lockstep.clock/9'"));
  EXPECT_THAT(message(R"({"format": "lockstep.clock/1"})"), HasSubstr("lacks clock, peer or exchanges"));
  const auto with = [&](const std::string& row) {
    return message(R"({"format": "lockstep.clock/1", "clock": "b", "peer": "a", "exchanges": [)" + row +
                   "]}");
  };
  for (const char* row : {"[1, 2, 3]", "[4, 1, 2, 3]", "[1, 3, 2, 4]", R"([1, 2, 3, "4"])", "[1.5, 2, 3, 4]",
                          "7", "[1, 2, 3, 9223372036854775807]", "[1, 2, 3, 18446744073709551615]"})
    EXPECT_THAT(with(row), HasSubstr("exchange 0 is not four readings in order")) << row;
}

}  // namespace
}  // namespace lockstep::analyzer::run

#include "tracer/inject/sources/scheduling/allowed_cores.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

namespace lockstep::tracer::scheduling {
namespace {

std::string text(std::string_view mask, std::uint32_t expected_count) {
  std::uint32_t count = 99;
  std::string result = text_of_mask(mask, count);
  EXPECT_EQ(count, expected_count);
  return result;
}

TEST(AllowedCores, NamesTheCoresOfAMask) {
  EXPECT_EQ(text(std::string_view("\x0f\x00", 2), 4), "0-3");
  EXPECT_EQ(text(std::string_view("\x01\x81", 2), 3), "0,8,15");
  EXPECT_EQ(text(std::string_view("\x80\x01", 2), 2), "7-8");
  EXPECT_EQ(text(std::string_view("\xff\xff", 2), 16), "0-15");
  EXPECT_EQ(text(std::string_view("\x00\x00", 2), 0), "");
  EXPECT_EQ(text("", 0), "");
}

TEST(AllowedCores, ReadsAQuota) {
  EXPECT_DOUBLE_EQ(parse_cpu_max("150000 100000\n"), 1.5);
  EXPECT_DOUBLE_EQ(parse_cpu_max("max 100000\n"), 0);
  EXPECT_DOUBLE_EQ(parse_cpu_max("150000 0\n"), 0);
  EXPECT_DOUBLE_EQ(parse_cpu_max("150000"), 0);
  EXPECT_DOUBLE_EQ(parse_cpu_max(""), 0);
}

TEST(AllowedCores, FindsTheControlGroupOfVersionTwo) {
  EXPECT_EQ(cgroup_path("0::/user.slice/job\n"), "/user.slice/job");
  EXPECT_EQ(cgroup_path("12:cpu,cpuacct:/job\n0::/\n"), "/");
  EXPECT_EQ(cgroup_path("12:cpu,cpuacct:/job\n"), "");
  EXPECT_EQ(cgroup_path(""), "");
}

TEST(AllowedCores, OfThisThreadAreThoseOfItsAffinity) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  EXPECT_EQ(read_allowed_cores(static_cast<std::uint32_t>(gettid())).count,
            static_cast<std::uint32_t>(CPU_COUNT(&mask)));
}

}  // namespace
}  // namespace lockstep::tracer::scheduling

// The kernel's text, real and hostile.
#include "tracer/inject/sources/host/proc_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tracer/inject/sources/host/visible_devices.h"

namespace lockstep::tracer::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Number, IsOneNumberAndNothingElse) {
  EXPECT_EQ(parse_number("4711\n"), 4711U);
  EXPECT_EQ(parse_number("18446744073709551615"), ~std::uint64_t{0});
  for (const char* text :
       {"", "\n", "-1\n", "12 13", "12x", "0x10", "18446744073709551616", "N/A (no PMA)\n"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  }
}

TEST(Schedstat, HasRunningAndWaiting) {
  const auto times = parse_schedstat("123456789 3701476 42\n");
  ASSERT_TRUE(times.has_value());
  EXPECT_EQ(times->running_ns, 123456789U);
  EXPECT_EQ(times->waiting_ns, 3701476U);
  EXPECT_FALSE(parse_schedstat("").has_value());
  EXPECT_FALSE(parse_schedstat("12").has_value());
  EXPECT_FALSE(parse_schedstat("a b c").has_value());
  EXPECT_FALSE(parse_schedstat("1 -2 3").has_value());
}

const std::string kStat =
    "31673 (cat) R 31662 31662 2188 0 -1 4194304 98 0 0 0 0 0 0 0 20 0 1 0 4913079 3133440 360 "
    "18446744073709551615 94494359126016 94494359145897 140733002475904 0 0 0 0 0 0 0 0 0 17 13 0 0 0 0 0 "
    "94494359161904 94494359163520\n";

TEST(Stat, HasTheProcessorWhateverTheNameIs) {
  EXPECT_EQ(parse_processor(kStat), 13U);
  for (const char* name : {"(a b)", "((x) R 1 2 3 (y)", "())", "(\n)"}) {
    std::string stat = kStat;
    stat.replace(stat.find("(cat)"), 5, name);
    EXPECT_EQ(parse_processor(stat), 13U) << name;
  }
  EXPECT_EQ(parse_processor("1 (a) R 2 3"), std::nullopt);
  EXPECT_EQ(parse_processor("no bracket"), std::nullopt);
  EXPECT_EQ(parse_processor(""), std::nullopt);
}

TEST(Statm, HasResidentPages) {
  EXPECT_EQ(parse_resident_pages("765 360 300 5 0 100 0\n"), 360U);
  EXPECT_EQ(parse_resident_pages("765"), std::nullopt);
  EXPECT_EQ(parse_resident_pages(""), std::nullopt);
}

TEST(Sched, HasMigrations) {
  EXPECT_EQ(parse_migrations(
                "cat (1, #threads: 1)\n---\nse.sum_exec_runtime      :   1.37\n"
                "se.nr_migrations                             :                   42\nnr_switches : 3\n"),
            42U);
  EXPECT_EQ(parse_migrations("nr_migrations_cold : 7\n"), std::nullopt) << "another one";
  EXPECT_EQ(parse_migrations("nr_migrations_cold : 7\nnr_migrations : 8"), 8U);
  EXPECT_EQ(parse_migrations("nr_migrations"), std::nullopt);
}

TEST(Pressure, HasTheTotal) {
  EXPECT_EQ(parse_pressure("some avg10=91.65 avg60=76.43 avg300=34.08 total=26728547128\n"
                           "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"),
            26728547128U);
  EXPECT_EQ(parse_pressure("full avg10=0.00 total=5\n"), std::nullopt);
  EXPECT_EQ(parse_pressure("some avg10=0.00\nfull total=5\n"), std::nullopt);
  EXPECT_EQ(parse_pressure(""), std::nullopt);
}

// Any bytes, and real text with any bytes in it: an answer or none, nothing worse (sanitizers watch).
TEST(ProcText, HostileTextIsHarmless) {
  std::mt19937 random(20260522);
  for (int i = 0; i < 20000; ++i) {
    std::string text = i % 2 == 0 ? kStat : std::string(random() % 200, ' ');
    for (char& c : text) {
      if (random() % 8 == 0) c = static_cast<char>(random());
    }
    text.resize(random() % (text.size() + 1));
    (void)parse_number(text);
    (void)parse_schedstat(text);
    (void)parse_processor(text);
    (void)parse_resident_pages(text);
    (void)parse_migrations("nr_migrations" + text);
    (void)parse_pressure("some " + text);
    (void)choose_devices(text.c_str(), i % 5 - 1, 8);
  }
}

TEST(Devices, ARankFollowsItsOwn) {
  const auto index = [](std::int32_t number) { return DeviceName{number, {}}; };
  EXPECT_THAT(choose_devices(nullptr, 3, 8).devices, ElementsAre(index(3)));
  EXPECT_THAT(choose_devices(nullptr, -1, 2).devices, ElementsAre(index(0), index(1)));
  EXPECT_THAT(choose_devices("4,5, 6", 1, 8).devices, ElementsAre(index(5)));
  EXPECT_THAT(choose_devices("7", 3, 8).devices, ElementsAre(index(7))) << "its launcher gave it one";
  EXPECT_THAT(choose_devices("", 0, 8).devices, IsEmpty());
  EXPECT_THAT(choose_devices("0,-1,2", -1, 8).devices, ElementsAre(index(0))) << "as CUDA does";
  EXPECT_THAT(choose_devices("GPU-aa,GPU-bb", 1, 8).devices, ElementsAre(DeviceName{-1, "GPU-bb"}));
  EXPECT_THAT(choose_devices("MIG-aa", 0, 8).problem, HasSubstr("MIG"));
  EXPECT_THAT(choose_devices("9", 0, 8).devices, IsEmpty());
  EXPECT_THAT(choose_devices("9", 0, 8).problem, HasSubstr("does not see"));
  EXPECT_THAT(choose_devices(nullptr, 0, 0).devices, IsEmpty());
}

}  // namespace
}  // namespace lockstep::tracer::host

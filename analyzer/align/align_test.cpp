#include "analyzer/align/align.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "analyzer/model/check_job.h"
#include "analyzer/model/job_builder.h"
#include "analyzer/model/stopped.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const Warning* find_warning(const Job& job, const std::string& code) {
  const auto found = std::find_if(job.warnings.begin(), job.warnings.end(),
                                  [&](const Warning& warning) { return warning.code == code; });
  return found == job.warnings.end() ? nullptr : &*found;
}

// Collectives on one axis, ranks up to 40 µs apart, 20 µs on the wire; each rank's clock is ahead by `ahead`
// and gains `gain` per nanosecond.
struct HostClock {
  std::int64_t ahead = 0;
  double gain = 0;
};
Job job_on(const std::vector<HostClock>& clocks, int collectives = 200, Nanoseconds pace = 1'000'000) {
  JobBuilder job;
  std::mt19937 random(5);
  for (int i = 0; i < collectives; ++i) {
    std::vector<Nanoseconds> arrivals;
    for (std::size_t rank = 0; rank < clocks.size(); ++rank)
      arrivals.push_back(i * pace + static_cast<Nanoseconds>(random() % 40'000));
    const Nanoseconds end = *std::max_element(arrivals.begin(), arrivals.end()) + 20'000;
    for (std::size_t rank = 0; rank < clocks.size(); ++rank) {
      const auto read = [&](Nanoseconds time) {
        return time + clocks[rank].ahead + std::llround(clocks[rank].gain * static_cast<double>(time));
      };
      RankBuilder& builder = job.rank(static_cast<int>(rank));
      builder.compute(read(arrivals[rank] - 300'000), read(arrivals[rank] - 1'000));
      builder.all_reduce(read(arrivals[rank]), read(end + static_cast<Nanoseconds>(random() % 500)));
    }
  }
  Job built = job.build();
  for (std::uint32_t rank = 0; rank < built.ranks.size(); ++rank) {
    built.ranks[rank].host = "host" + std::to_string(rank);
    built.ranks[rank].clock.domain = rank;
    built.ranks[rank].clock.related = rank == 0;
    built.ranks[rank].clock.evidence = rank == 0 ? "same host" : "none";
  }
  return built;
}

std::int64_t worst_error(const Job& truth, const Job& aligned, std::size_t rank) {
  std::int64_t worst = 0;
  for (std::size_t i = 0; i < truth.ranks[rank].activities.size(); ++i) {
    worst = std::max(
        worst, std::abs(truth.ranks[rank].activities[i].begin - aligned.ranks[rank].activities[i].begin));
    worst = std::max(worst,
                     std::abs(truth.ranks[rank].activities[i].end - aligned.ranks[rank].activities[i].end));
  }
  return worst;
}

TEST(AlignClocks, HostsMeetInTheirCollectives) {
  const Job truth = job_on({{}, {}, {}});
  Job job = job_on({{}, {5'000'000'000'000, 0}, {-7'000'000, 30e-6}});
  align_clocks(job);
  ASSERT_TRUE(check_job(job).ok());
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const Clock& clock = job.ranks[rank].clock;
    EXPECT_TRUE(clock.related);
    EXPECT_LE(worst_error(truth, job, rank), clock.uncertainty_ns) << rank;
    EXPECT_LT(clock.uncertainty_ns, 45'000) << rank;
  }
  EXPECT_EQ(job.ranks[1].clock.evidence, "happened-before");
  EXPECT_NEAR(static_cast<double>(job.ranks[1].clock.offset_ns), -5e12, 40e3);
  EXPECT_EQ(job.ranks[1].clock.drift, 0);
  EXPECT_NEAR(job.ranks[2].clock.drift, -30e-6, 1e-9 + 40e3 / 200e6);
  EXPECT_THAT(find_warning(job, "clocks_by_happened_before")->message,
              HasSubstr("the clocks of ranks 1, 2 "));
}

TEST(AlignClocks, ExchangesAloneAreEnoughAndSaid) {
  Job job = job_on({{}, {3'000'000'000, 0}}, 0);
  job.ranks.clear();
  JobBuilder builder;
  builder.rank(0).compute(0, 1'000'000);
  builder.rank(1).compute(3'000'000'000, 3'001'000'000);
  job = builder.build();
  job.ranks[1].host = "there";
  job.ranks[1].clock = {1, 0, 0, 0, "none", false, ""};
  for (const Nanoseconds time : {0, 500'000, 1'000'000})
    job.exchanges.push_back(
        {1, 0, 3'000'000'000 + time, time + 10'000, time + 11'000, 3'000'000'000 + time + 22'000});
  align_clocks(job);
  const Clock& clock = job.ranks[1].clock;
  EXPECT_EQ(clock.evidence, "pings");
  EXPECT_LE(clock.uncertainty_ns, 10'700);  // half of 21 µs, and what the rate may be
  EXPECT_NEAR(static_cast<double>(job.ranks[1].activities[0].begin), 0, 10'700);
  EXPECT_THAT(job.warnings, IsEmpty());
}

TEST(AlignClocks, ExchangesAndCollectivesTogether) {
  Job job = job_on({{}, {3'000'000'000, 0}});
  job.exchanges.push_back({1, 0, 3'000'000'000, 4'000, 4'500, 3'000'009'000});
  align_clocks(job);
  EXPECT_EQ(job.ranks[1].clock.evidence, "pings and happened-before");
}

TEST(AlignClocks, WallClocksStayWhereNothingKnowsBetter) {
  // Collectives of 5 ms on the wire: the order alone leaves milliseconds open.
  JobBuilder builder;
  for (int i = 0; i < 10; ++i) {
    builder.rank(0).all_reduce(i * 20'000'000, i * 20'000'000 + 5'000'000);
    builder.rank(1).all_reduce(i * 20'000'000 + 300'000, i * 20'000'000 + 5'300'000);
  }
  Job job = builder.build();
  job.ranks[1].host = "there";
  job.ranks[1].clock = {1, 0, kWallClockUncertaintyNs, 0, "wall clock", true, ""};
  const Job before = job;
  align_clocks(job);
  EXPECT_EQ(worst_error(before, job, 1), 0);
  EXPECT_EQ(job.ranks[1].clock.evidence, "wall clock");
  EXPECT_EQ(job.ranks[1].clock.uncertainty_ns, kWallClockUncertaintyNs);
  EXPECT_NE(find_warning(job, "clocks_by_wall_clock"), nullptr);
}

TEST(AlignClocks, AWallClockThatCollectivesRefuteIsCorrected) {
  Job job = job_on({{}, {60'000'000, 0}});  // a minute's worth of bad NTP
  job.ranks[1].clock = {1, 0, kWallClockUncertaintyNs, 0, "wall clock", true, ""};
  align_clocks(job);
  EXPECT_EQ(job.ranks[1].clock.evidence, "happened-before");
  EXPECT_NEAR(static_cast<double>(job.ranks[1].clock.offset_ns), -60e6, 40e3);
}

TEST(AlignClocks, RanksOfOneHostMoveTogetherAndStayExact) {
  Job job = job_on({{}, {9'000'000, 0}, {9'000'000, 0}});
  job.ranks[2].clock.domain = 1;
  job.ranks[2].host = job.ranks[1].host;
  const Nanoseconds apart = job.ranks[2].activities[0].begin - job.ranks[1].activities[0].begin;
  align_clocks(job);
  EXPECT_EQ(job.ranks[2].activities[0].begin - job.ranks[1].activities[0].begin, apart);
  EXPECT_EQ(job.ranks[2].clock.offset_ns, job.ranks[1].clock.offset_ns);
}

// Of several hosts, and of one whose ranks are looked at for contradictions.
TEST(AlignClocks, WhoeverIsAskedToStopDoes) {
  std::stop_source stop;
  stop.request_stop();
  Job hosts = job_on({{0, 0}, {5'000'000, 0}, {-3'000'000, 0}});
  EXPECT_THROW(align_clocks(hosts, Clocks::automatic, stop.get_token()), Stopped);
  EXPECT_THROW(align_clocks(hosts, Clocks::each_rank, stop.get_token()), Stopped);
  Job assumed = job_on({{0, 0}, {0, 0}, {0, 0}});
  for (RankTrace& rank : assumed.ranks) {
    rank.clock.domain = 0;
    rank.clock.evidence = "assumed";
  }
  EXPECT_THROW(align_clocks(assumed, Clocks::automatic, stop.get_token()), Stopped);
}

TEST(AlignClocks, NothingInCommonIsSaid) {
  JobBuilder builder;
  builder.rank(0).compute(0, 10);
  builder.rank(1).compute(500, 510);
  Job job = builder.build();
  job.ranks[1].clock = {1, 0, 0, 0, "none", false, ""};
  align_clocks(job);
  EXPECT_FALSE(job.ranks[1].clock.related);
  EXPECT_EQ(job.ranks[1].activities[0].begin, 500);
  EXPECT_EQ(find_warning(job, "clocks_unrelated")->message,
            "the clock of rank 1 can't be related to that of rank 0: times between them mean nothing");
}

TEST(AlignClocks, OneRankWhoseTimesCantBeOfTheSharedClockIsFound) {
  for (const std::int64_t ahead : {-2'000'000'000L, 700'000L}) {
    std::vector<HostClock> clocks(6);
    clocks[3].ahead = ahead;
    const Job truth = job_on(std::vector<HostClock>(6));
    Job job = job_on(clocks);
    for (RankTrace& rank : job.ranks) {
      rank.host.clear();
      rank.clock = {0, 0, 0, 0, "assumed", true, ""};
    }
    align_clocks(job);
    EXPECT_LE(worst_error(truth, job, 3), job.ranks[3].clock.uncertainty_ns);
    EXPECT_NEAR(static_cast<double>(job.ranks[3].clock.offset_ns), static_cast<double>(-ahead), 40e3);
    for (const std::size_t rank : {0u, 1u, 2u, 4u, 5u}) EXPECT_EQ(worst_error(truth, job, rank), 0) << rank;
    EXPECT_EQ(find_warning(job, "clock_contradicted")->rank, 3);
  }
}

TEST(AlignClocks, OfTwoThatContradictNobodyIsChosen) {
  Job job = job_on({{}, {5'000'000'000, 0}});
  for (RankTrace& rank : job.ranks) rank.clock = {0, 0, 0, 0, "assumed", true, ""};
  const Job before = job;
  align_clocks(job);
  EXPECT_EQ(worst_error(before, job, 1), 0);
  EXPECT_EQ(find_warning(job, "clock_contradicted"), nullptr);
}

TEST(AlignClocks, AnAssumedClockIsSaid) {
  Job job = job_on({{}, {}});
  for (RankTrace& rank : job.ranks) rank.clock = {0, 0, 0, 0, "assumed", true, ""};
  align_clocks(job);
  const Warning* assumed = find_warning(job, "clocks_assumed");
  ASSERT_NE(assumed, nullptr);
  EXPECT_NE(assumed->message.find("2 ranks"), std::string::npos);
  for (RankTrace& rank : job.ranks) rank.clock.evidence = "same host";
  job.warnings.clear();
  align_clocks(job);
  EXPECT_EQ(find_warning(job, "clocks_assumed"), nullptr);
}

TEST(AlignClocks, AsRecordedMovesNothing) {
  Job job = job_on({{}, {5'000'000'000, 0}});
  const Job before = job;
  align_clocks(job, Clocks::as_recorded);
  EXPECT_EQ(worst_error(before, job, 1), 0);
  EXPECT_NE(find_warning(job, "clocks_unrelated"), nullptr);
}

TEST(AlignClocks, EachRankGivesEveryRankAClockOfItsOwn) {
  Job job = job_on({{}, {400'000, 0}, {}});
  for (RankTrace& rank : job.ranks) rank.clock = {0, 0, 0, 0, "same host", true, ""};
  align_clocks(job, Clocks::each_rank);
  EXPECT_NEAR(static_cast<double>(job.ranks[1].clock.offset_ns), -400e3, 40e3);
  EXPECT_GT(job.ranks[2].clock.uncertainty_ns, 0);
}

TEST(AlignClocks, ASetClockIsSaid) {
  Job job = job_on({{}, {}});
  for (Activity& activity : job.ranks[1].activities) {
    if (activity.begin < 100'000'000) continue;
    activity.begin += 5'000'000;
    activity.end += 5'000'000;
  }
  const Job truth = job_on({{}, {}});
  align_clocks(job);
  EXPECT_THAT(find_warning(job, "clock_set")->message,
              HasSubstr("the clock of rank 1 was set during the run"));
  EXPECT_LE(worst_error(truth, job, 1), job.ranks[1].clock.uncertainty_ns);
}

}  // namespace
}  // namespace lockstep::analyzer

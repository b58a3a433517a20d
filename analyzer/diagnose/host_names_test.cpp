// Which of its host's activities made a rank launch late.
#include "analyzer/diagnose/host_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;
using testing::Not;

// Rank 2's device waits for a launch while `host` does something for 20 ms; the others' take `others`.
Report late_launch(Nanoseconds others, const std::string& device = "cuda:0") {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    const Nanoseconds late = rank == 2 ? 20 * ms : others;
    RankBuilder& builder = job.rank(rank);
    builder.compute(0, 10 * ms).launched(-10, -5);
    builder.all_reduce(11 * ms + late, 50 * ms).launched(11 * ms + late - 5, 11 * ms + late - 4);
    builder.host_range(0, 40 * ms, "train_step");
    builder.host_range(10 * ms, 10 * ms + late, "gc.collect", 1);
    builder.trace().device = device;
  }
  return report_of(job);
}

TEST(HostNames, TheActivityThatTookLongerThanTheOthersIsNamed) {
  EXPECT_EQ(
      late_launch(2 * ms).blame.at(0).root_cause,
      "before that operation its device idled with nothing launched for 21.0 ms, the others for 3.00 ms; "
      "its host was in `gc.collect` for 20.0 ms, the others for 2.00 ms");
}

TEST(HostNames, WhatTheOthersDidNotDoForLongIsSaidSo) {
  EXPECT_THAT(late_launch(100'000).blame.at(0).root_cause,
              HasSubstr("its host was in `gc.collect` for 20.0 ms, the others not at all"));
}

// On a CPU lane the host computes: its ranges are not why it idles.
TEST(HostNames, NoneIsNamedWhereTheHostIsTheDevice) {
  EXPECT_THAT(late_launch(2 * ms, "cpu").blame.at(0).root_cause, Not(HasSubstr("gc.collect")));
}

// A range that all ranks are in for as long explains nothing.
TEST(HostNames, WhatAllDoAlikeIsNotNamed) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    const Nanoseconds late = rank == 2 ? 20 * ms : 0;
    job.rank(rank).compute(0, 10 * ms).launched(-10, -5).host_range(0, 60 * ms, "train_step");
    job.rank(rank).all_reduce(11 * ms + late, 50 * ms).launched(11 * ms + late - 5, 11 * ms + late - 4);
    job.rank(rank).host_range(1 * ms, 9 * ms, "prepare", 1);
  }
  EXPECT_THAT(report_of(job).blame.at(0).root_cause, Not(HasSubstr("its host was in `prepare`")));
}

// Seen of a sleep behind the optimizer: the forward pass took longer as well, and its range got the blame.
TEST(HostNames, OnACpuRangesOfWhatIsComputedAreNotWhyItIdles) {
  const auto title_with = [](const std::string& in_the_gap, Nanoseconds tenths = 10) {
    JobBuilder job;
    for (std::int32_t rank = 0; rank < 4; ++rank) {
      RankBuilder& builder = job.rank(rank);
      builder.trace().device = "cpu";
      for (int step = 0; step < 30; ++step) {
        const Nanoseconds begin = step * 20 * ms, idle = rank == 2 ? 3 * ms : ms / 10;
        const Nanoseconds computed = begin + idle + (rank == 2 ? 11 * ms : 9 * ms);
        builder.step(step, begin, begin + 20 * ms);
        builder.compute(begin + idle, computed).launched(begin + idle, begin + idle);
        if (rank == 2 && !in_the_gap.empty())
          builder.host_range(begin, begin + idle * tenths / 10, in_the_gap, 1);
        builder.host_range(begin + idle, computed, "Model.forward");
        builder.all_reduce(computed, begin + 20 * ms).launched(computed, computed);
      }
    }
    return finding(report_of(job), "straggler_persistent").title;
  };
  EXPECT_THAT(title_with(""),
              HasSubstr("rank 2 does something for 2.80 ms longer that the trace does not name"));
  EXPECT_THAT(title_with("read the file"),
              HasSubstr("rank 2 spends 2.80 ms longer on its host, in `read the file`"));
  EXPECT_THAT(title_with("read the file", 4),
              HasSubstr("rank 2 does something for 2.80 ms longer that the trace does not name"))
      << "seen of a rank that logs: where it is in no range for longer, the range is not why";
}

// Beside the slow obvious answer: of every instant, the last begun of the ranges that hold it.
TEST(HostNames, SpansAreTheInnermostRangeOfEveryInstant) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    RankTrace rank;
    for (std::uint32_t lane = 0; lane < 3; ++lane) {
      Nanoseconds at = 0;
      for (int i = 0; i < 12; ++i) {
        at += static_cast<Nanoseconds>(random() % 3) * ms;
        rank.host_ranges.push_back({at, at + static_cast<Nanoseconds>(random() % 9) * ms,
                                    static_cast<std::uint32_t>(random() % 5), lane, 0,
                                    random() % 4 == 0 ? HostKind::step : HostKind::other});
      }
    }
    std::vector<std::vector<std::uint32_t>> seen, expected;
    for (const std::vector<HostSpan>& spans : innermost_host_ranges(rank)) {
      std::vector<std::uint32_t>& names = seen.emplace_back(60, kNone);
      for (const HostSpan& span : spans) {
        for (Nanoseconds t = span.begin / ms; t < span.end / ms; ++t) {
          EXPECT_EQ(names[static_cast<std::size_t>(t)], kNone) << "spans of a thread do not overlap";
          names[static_cast<std::size_t>(t)] = span.name;
        }
      }
    }
    for (std::uint32_t lane = 0; lane < 3; ++lane) {
      std::vector<std::uint32_t> names(60, kNone);
      for (const HostRange& range : rank.host_ranges) {
        if (range.lane != lane || range.kind == HostKind::step) continue;
        // Ranges of tests overlap as start/end ranges do: until a later one ends, it hides the others.
        for (Nanoseconds t = range.begin / ms; t < range.end / ms; ++t)
          names[static_cast<std::size_t>(t)] = range.name;
      }
      if (std::any_of(names.begin(), names.end(), [](std::uint32_t name) { return name != kNone; }))
        expected.push_back(names);
    }
    EXPECT_EQ(seen, expected);
  }
}

}  // namespace
}  // namespace lockstep::analyzer

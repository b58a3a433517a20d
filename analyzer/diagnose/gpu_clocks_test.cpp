// A rank whose GPU's clock is lower, and what has to be so before that is said.
#include "analyzer/diagnose/gpu_clocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "analyzer/diagnose/gpu_readings.h"
#include "analyzer/diagnose/job_lateness.h"
#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr Nanoseconds kStep = 800 * ms;
constexpr int kSteps = 20;

// Four ranks compute for 200 ms of each step, rank 2 for `longer` more, meet, and idle for the rest.
struct GpuJob {
  Nanoseconds longer = 70 * ms;
  std::string device_of_2 = "cuda:0";

  static Nanoseconds computes(std::int32_t rank, Nanoseconds longer) {
    return (200 + rank) * ms + (rank == 2 ? longer : 0);
  }
  bool is_computing(std::int32_t rank, Nanoseconds time) const {
    return time % kStep < computes(rank, longer);
  }
  JobBuilder build() const {
    JobBuilder job;
    for (std::int32_t rank = 0; rank < 4; ++rank) {
      job.rank(rank).trace().device = rank == 2 ? device_of_2 : "cuda:0";
      job.rank(rank).trace().device_uuid = "GPU-" + std::to_string(rank);
      for (int step = 0; step < kSteps; ++step) {
        const Nanoseconds begin = step * kStep, ready = begin + computes(rank, longer);
        job.rank(rank).step(step, begin, begin + kStep - 10 * ms);
        job.rank(rank).compute(begin, ready, "layer").launched(begin, begin + 1);
        job.rank(rank).all_reduce(ready, begin + 210 * ms + longer).launched(begin + 2, begin + 3);
      }
    }
    return job;
  }
};

// As the recorder writes a gauge that it reads every 100 ms: what changes nothing is left out, up to the last
// reading before a change.
using Value = std::function<double(std::int32_t rank, Nanoseconds time)>;
void record(JobBuilder& job, std::int32_t rank, const std::string& name, const Value& value,
            Nanoseconds until = kSteps * kStep) {
  constexpr Nanoseconds kPeriod = 100 * ms;
  CounterTrack track{"gpu " + std::to_string(rank) + " " + name, {}};
  for (Nanoseconds time = 13 * ms; time < until; time += kPeriod) {
    const double now = value(rank, time), before = value(rank, time - kPeriod);
    const bool is_edge = time < kPeriod || time + kPeriod >= until;
    if (is_edge || now != before || now != value(rank, time + kPeriod)) track.points.push_back({time, now});
  }
  job.rank(rank).trace().counters.push_back(std::move(track));
}
void record_all(JobBuilder& job, const std::string& name, const Value& value) {
  for (std::int32_t rank = 0; rank < 4; ++rank) record(job, rank, name, value);
}
double low_on_2(std::int32_t rank, Nanoseconds) {
  return rank == 2 ? 1200 : 1980;
}
Finding straggler(const JobBuilder& job) {
  return finding(report_of(job), "straggler_persistent");
}

TEST(GpuClocks, ThatAreLowerWhileItComputesAreTheReason) {
  JobBuilder job = GpuJob().build();
  record_all(job, "SM clock (MHz)", low_on_2);
  const Finding late = straggler(job);
  EXPECT_EQ(late.rank, 2);
  EXPECT_EQ(late.reason, "clocks_lower");
  EXPECT_EQ(late.title,
            "rank 2 computes 35.3 % longer, with its GPU at 1.20 GHz and the others' at 1.98 GHz: the others "
            "wait for it (9.2 % of each step)");
  EXPECT_THAT(
      late.evidence,
      Contains("its GPU runs at 1.20 GHz while it computes, the others' at 1.98 GHz (medians): work that "
               "is bound by the clock takes 65.0 % longer"));
  EXPECT_EQ(
      late.remedy,
      "on rank 2's host `nvidia-smi -q -d PERFORMANCE,CLOCK,POWER` beside another rank's says what holds "
      "its clock down: a power limit, heat, or clocks that were set (`nvidia-smi -rgc` and `nvidia-smi "
      "-rac` reset them)");
}

struct Planted {
  const char* throttled;
  const char* remedy;
};
TEST(GpuClocks, AreHeldDownByWhatThrottlesTheGpu) {
  for (const auto& [throttled, remedy] :
       {Planted{"heat", "cool rank 2's GPU: "},
        Planted{"hardware", "look at power supply, cables and cooling"},
        Planted{"power", "compare the power limit of rank 2's GPU with the others'"},
        Planted{"nothing", "on rank 2's host `nvidia-smi -q -d CLOCK` beside another rank's"}}) {
    JobBuilder job = GpuJob().build();
    record_all(job, "SM clock (MHz)", low_on_2);
    for (const std::string by : {"heat", "hardware", "power"})
      record_all(job, "throttled by " + by,
                 [&](std::int32_t rank, Nanoseconds) { return rank == 2 && by == throttled ? 1 : 0; });
    record_all(job, "power (W)", [](std::int32_t rank, Nanoseconds) { return rank == 2 ? 310 : 690; });
    record_all(job, "temperature (°C)", [](std::int32_t rank, Nanoseconds) { return rank == 2 ? 87 : 61; });
    const Finding late = straggler(job);
    EXPECT_THAT(late.remedy, HasSubstr(remedy));
    EXPECT_THAT(
        late.evidence,
        Contains("its GPU draws 310 W, the others' 690 W; it is at 87 °C, the others' 61 °C (medians)"));
    const bool any = std::string(throttled) != "nothing";
    EXPECT_THAT(late.evidence, Contains(any ? "its GPU is throttled by " + std::string(throttled) +
                                                  " in 100.0 % of the readings, the others' in 0.0 %"
                                            : "neither heat nor hardware nor power throttles its GPU"));
  }
}

// Power holds down the clocks of all; what it is throttled by alone is why its own is lower.
TEST(GpuClocks, AreHeldDownByWhatTheOthersAreNotThrottledBy) {
  JobBuilder job = GpuJob().build();
  record_all(job, "SM clock (MHz)", low_on_2);
  record_all(job, "throttled by power", [](std::int32_t, Nanoseconds) { return 1; });
  record_all(job, "throttled by heat", [](std::int32_t rank, Nanoseconds) { return rank == 2 ? 1 : 0; });
  EXPECT_THAT(straggler(job).remedy, HasSubstr("cool rank 2's GPU"));
}

TEST(GpuClocks, ThatAgreeAreNotWhyAndNobodyIsSentToLookAtThem) {
  JobBuilder job = GpuJob().build();
  record_all(job, "SM clock (MHz)", [](std::int32_t rank, Nanoseconds) { return rank == 2 ? 1950 : 1980; });
  const Finding late = straggler(job);
  EXPECT_EQ(late.reason, "computes_longer");
  EXPECT_THAT(late.title, HasSubstr("rank 2 computes 35.3 % longer, above all in `layer`"));
  EXPECT_THAT(late.evidence, Contains("clocks are not why: its GPU runs at 1.95 GHz while it computes, the "
                                      "others' at 1.98 GHz (medians)"));
  EXPECT_EQ(
      late.remedy,
      "see whether rank 2's work is larger: emit a counter `tokens` (docs/instrumentation.md); `lockstep "
      "record --operators` says in which module of the model it computes longer");
}

TEST(GpuClocks, ThatExplainLittleAreNotWhy) {
  JobBuilder job = GpuJob().build();
  record_all(job, "SM clock (MHz)", [](std::int32_t rank, Nanoseconds) { return rank == 2 ? 1800 : 1980; });
  const Finding late = straggler(job);
  EXPECT_EQ(late.reason, "computes_longer");
  EXPECT_THAT(late.evidence,
              Contains("clocks explain less than half of it: its GPU runs at 1.80 GHz while it computes, the "
                       "others' at 1.98 GHz (medians), which is at most 10.0 % longer"));
  EXPECT_THAT(late.remedy, Not(HasSubstr("nvidia-smi")));
}

// A GPU that waits may clock down, and rank 2's is in most of its readings.
TEST(GpuClocks, ThatAreLowerWhileItWaitsAreNotWhy) {
  const GpuJob plan;
  JobBuilder job = plan.build();
  record_all(job, "SM clock (MHz)", [&](std::int32_t rank, Nanoseconds time) {
    return rank == 2 && !plan.is_computing(rank, time) ? 345 : 1980;
  });
  const Finding late = straggler(job);
  EXPECT_EQ(late.reason, "computes_longer");
  EXPECT_THAT(late.evidence, Contains("clocks are not why: its GPU runs at 1.98 GHz while it computes, the "
                                      "others' at 1.98 GHz (medians)"));
}

TEST(GpuClocks, OfAnotherRankThatIsNoSlowerExcludeIt) {
  JobBuilder job = GpuJob().build();
  record_all(job, "SM clock (MHz)", [](std::int32_t rank, Nanoseconds) { return rank >= 2 ? 1200 : 1980; });
  const Finding late = straggler(job);
  EXPECT_EQ(late.reason, "computes_longer");
  EXPECT_THAT(
      late.evidence,
      Contains("clocks are not why: its GPU runs at 1.20 GHz while it computes, the others' at 1.98 GHz "
               "(medians), but that of rank 3, which does not compute as much longer, is as low"));
}

TEST(GpuClocks, ThatWereReadTooSeldomDoNotTell) {
  // In the first seconds alone: 3 readings a step while it computes.
  for (const Nanoseconds until : {kStep, 3 * kStep}) {
    JobBuilder job = GpuJob().build();
    for (std::int32_t rank = 0; rank < 4; ++rank)
      record(job, rank, "SM clock (MHz)", low_on_2, rank == 2 ? until : kSteps * kStep);
    const Finding late = straggler(job);
    EXPECT_EQ(late.reason, "computes_longer");
    EXPECT_THAT(late.evidence,
                Contains("whether its GPU's clock is why cannot be told: it was read " +
                         std::string(until == kStep ? "3" : "9") + " times while the rank computed"));
    EXPECT_THAT(late.remedy, HasSubstr("`lockstep record --cpu` of all ranks and of more steps reads them"));
  }
}

TEST(GpuClocks, OfTooFewOthersDoNotTell) {
  JobBuilder job = GpuJob().build();
  for (const std::int32_t rank : {0, 2}) record(job, rank, "SM clock (MHz)", low_on_2);
  EXPECT_THAT(
      straggler(job).evidence,
      Contains("whether its GPU's clock is why cannot be told: of the others' it is known of 1 of 3"));
}

TEST(GpuClocks, OfGpusThatMayBeOfAnotherKindDoNotTell) {
  JobBuilder job = GpuJob().build();
  record_all(job, "SM clock (MHz)", low_on_2);
  record_all(job, "memory clock (MHz)",
             [](std::int32_t rank, Nanoseconds) { return rank == 2 ? 1593 : 2619; });
  const Finding late = straggler(job);
  EXPECT_EQ(late.reason, "computes_longer");
  EXPECT_THAT(late.evidence,
              Contains(HasSubstr("differ as well (1.59 GHz beside 2.62 GHz): the GPUs may not")));
  EXPECT_THAT(late.remedy, HasSubstr("`nvidia-smi -L`"));
}

TEST(GpuClocks, ThatNobodyRecordedAreWorthRecording) {
  for (const bool of_others : {false, true}) {
    JobBuilder job = GpuJob().build();
    if (of_others)
      for (const std::int32_t rank : {0, 1, 3}) record(job, rank, "SM clock (MHz)", low_on_2);
    const Finding late = straggler(job);
    EXPECT_EQ(late.reason, "computes_longer");
    EXPECT_THAT(late.remedy,
                HasSubstr("`nvidia-smi -q -d PERFORMANCE,CLOCK,TEMPERATURE` beside another rank's; `lockstep "
                          "record --cpu` records clocks and throttling. Where these agree"));
    EXPECT_THAT(late.evidence, Not(Contains(HasSubstr("clock"))));
  }
}

// A process without a local rank records all GPUs that it sees.
TEST(GpuReadings, AreOfTheGpuThatTheRankComputesOn) {
  JobBuilder builder = GpuJob{.device_of_2 = "cuda:1"}.build();
  for (const int gpu : {0, 1, 2})
    builder.rank(2).trace().counters.push_back({"gpu " + std::to_string(gpu) + " SM clock (MHz)",
                                                {{0, 1000.0 + gpu}, {kSteps * kStep, 1000.0 + gpu}}});
  Job job = builder.build();
  const Report report = report_of(job);
  const StepTable table = table_of_steps(job, report);
  const auto of_2 = gpu_readings(job, report, table, 2);
  ASSERT_TRUE(of_2.has_value());
  EXPECT_EQ(of_2->sm_mhz, 1001);
  EXPECT_EQ(of_2->count, std::size_t{kSteps * 3});
  EXPECT_TRUE(of_2->tells);
  EXPECT_FALSE(gpu_readings(job, report, table, 0).has_value());
  // Whose clock is it that two ranks compute at?
  job.ranks[0].device_uuid = job.ranks[2].device_uuid;
  EXPECT_FALSE(gpu_readings(job, report, table, 2).has_value());
  job.ranks[0].device_uuid = "GPU-0";
  job.ranks[2].device = "cuda:5";
  EXPECT_FALSE(gpu_readings(job, report, table, 2).has_value());
}

}  // namespace
}  // namespace lockstep::analyzer

// Simulated data-parallel training with a fault planted, over 20 seeds: it is found, at the right rank, and
// nothing else is; without one nothing is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "analyzer/diagnose/test_reports.h"
#include "analyzer/model/pipeline_job.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

constexpr unsigned kSeeds = 20;
constexpr std::int32_t kRanks = 4;
constexpr int kSteps = 12;
constexpr int kBuckets = 4;
constexpr Nanoseconds kForward = 10'000 * us, kBackward = 5'000 * us, kTransfer = 400 * us,
                      kOptimizer = 1'000 * us;
constexpr Nanoseconds kLoading = 200 * us, kLaunchAhead = 2'000 * us;

struct Fault {
  std::int32_t slow_rank = -1;     // computes a fifth longer
  std::int32_t slow_loader = -1;   // gets its batch 6 ms later
  std::int32_t pausing_rank = -1;  // in steps 2, 6 and 10 its first backward takes 20 ms longer
  bool uneven = false;             // each step another rank has half as much again to do
};

// Each computation and transfer varies by half a percent.
class Training {
 public:
  Training(unsigned seed, const Fault& fault) : random_(seed), fault_(fault) {}

  Job run() {
    std::array<Nanoseconds, kRanks> now{};
    for (int step = 0; step < kSteps; ++step) {
      const std::int32_t loaded = fault_.uneven ? static_cast<std::int32_t>(random_() % kRanks) : -1;
      std::array<Nanoseconds, kRanks> begin = now, wire{};
      for (std::int32_t rank = 0; rank < kRanks; ++rank) {
        const Nanoseconds loading = varied(kLoading) + (rank == fault_.slow_loader ? 6'000 * us : 0);
        job_.rank(rank).data_loading(now[at(rank)], now[at(rank)] + loading);
        now[at(rank)] += loading;
        compute(rank, "forward", work(rank, kForward, loaded), now);
      }
      for (int bucket = 0; bucket < kBuckets; ++bucket) {
        for (std::int32_t rank = 0; rank < kRanks; ++rank)
          compute(rank, "backward", work(rank, kBackward, loaded) + pause(rank, step, bucket), now);
        reduce(now, wire);
      }
      for (std::int32_t rank = 0; rank < kRanks; ++rank) {
        now[at(rank)] = std::max(now[at(rank)], wire[at(rank)]);
        compute(rank, "optimizer", varied(kOptimizer), now);
        job_.rank(rank).step(step, begin[at(rank)], now[at(rank)]);
        std::vector<CounterTrack>& counters = job_.rank(rank).trace().counters;
        if (counters.empty()) counters.push_back({"tokens", {}});
        counters.front().points.push_back({now[at(rank)], rank == loaded ? 1536.0 : 1024.0});
      }
    }
    Job job = job_.build();
    for (RankTrace& rank : job.ranks) rank.device = "cuda:" + std::to_string(rank.rank);
    return job;
  }

 private:
  static std::size_t at(std::int32_t rank) { return static_cast<std::size_t>(rank); }
  Nanoseconds varied(Nanoseconds time) {
    return time + time / 200 * static_cast<Nanoseconds>(random_() % 201) / 100 - time / 200;
  }
  Nanoseconds work(std::int32_t rank, Nanoseconds time, std::int32_t loaded) {
    if (rank == fault_.slow_rank) time += time / 5;
    if (rank == loaded) time += time / 2;
    return varied(time);
  }
  Nanoseconds pause(std::int32_t rank, int step, int bucket) const {
    return rank == fault_.pausing_rank && step % 4 == 2 && bucket == 0 ? 20'000 * us : 0;
  }
  // Launched long before it begins, but after what the step's loading ended with.
  void compute(std::int32_t rank, const char* name, Nanoseconds time, std::array<Nanoseconds, kRanks>& now) {
    Nanoseconds& own = now[at(rank)];
    job_.rank(rank).compute(own, own + time, name).launched(own - kLaunchAhead, own - kLaunchAhead + 10 * us);
    own += time;
  }
  void reduce(const std::array<Nanoseconds, kRanks>& ready, std::array<Nanoseconds, kRanks>& wire) {
    std::array<Nanoseconds, kRanks> arrival{};
    for (std::size_t rank = 0; rank < kRanks; ++rank) arrival[rank] = std::max(ready[rank], wire[rank]);
    const Nanoseconds end = *std::max_element(arrival.begin(), arrival.end()) + varied(kTransfer);
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
      wire[at(rank)] = end + static_cast<Nanoseconds>(random_() % (2 * us));
      job_.rank(rank)
          .all_reduce(arrival[at(rank)], wire[at(rank)])
          .launched(arrival[at(rank)] - kLaunchAhead, arrival[at(rank)] - kLaunchAhead + 10 * us);
    }
  }

  std::mt19937 random_;
  Fault fault_;
  JobBuilder job_;
};

// Every finding's code is one of these, and one of them is there.
void expect_only(const Report& report, const std::set<std::string>& codes, unsigned seed) {
  EXPECT_FALSE(report.findings.empty()) << "seed " << seed;
  for (const Finding& finding : report.findings)
    EXPECT_TRUE(codes.contains(finding.code))
        << "seed " << seed << ": " << finding.code << ": " << finding.title;
}

TEST(PlantedFaults, WithoutOneNothingIsFound) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const Report report = report_of(Training(seed, {}).run());
    for (const Finding& finding : report.findings)
      ADD_FAILURE() << "seed " << seed << ": " << finding.code << ": " << finding.title;
  }
}

TEST(PlantedFaults, AStragglerIsNamed) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Fault fault;
    fault.slow_rank = static_cast<std::int32_t>(seed) % kRanks;
    const Report report = report_of(Training(seed, fault).run());
    expect_only(report, {"straggler_persistent"}, seed);
    if (report.findings.empty()) continue;
    EXPECT_THAT(report.findings[0].title, HasSubstr("rank " + std::to_string(fault.slow_rank)))
        << "seed " << seed;
    EXPECT_EQ(report.findings.size(), 1u) << "seed " << seed;
  }
}

// The others wait for it: that is said too, with loading as its reason.
TEST(PlantedFaults, APeriodicPauseIsNamedWithItsPeriod) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Fault fault;
    fault.pausing_rank = static_cast<std::int32_t>(seed) % kRanks;
    const Report report = report_of(Training(seed, fault).run());
    expect_only(report, {"straggler_periodic"}, seed);
    const Finding found = finding(report, "straggler_periodic");
    EXPECT_THAT(found.title, HasSubstr("rank " + std::to_string(fault.pausing_rank))) << "seed " << seed;
    EXPECT_THAT(found.evidence.at(0), HasSubstr("late once in 4 steps, from step 2 on, 3 times"))
        << "seed " << seed;
  }
}

TEST(PlantedFaults, ASlowLoaderIsNamed) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Fault fault;
    fault.slow_loader = static_cast<std::int32_t>(seed) % kRanks;
    const Report report = report_of(Training(seed, fault).run());
    expect_only(report, {"straggler_persistent"}, seed);  // and once: nobody else loads
    const Finding late = finding(report, "straggler_persistent");
    EXPECT_THAT(late.remedy, HasSubstr("DataLoader")) << "seed " << seed;
    EXPECT_THAT(
        late.evidence,
        testing::Contains(testing::ContainsRegex(
            "lost are .* for which the others wait for it, and .* of its own time, which it would save as well")))
        << "seed " << seed;
  }
}

TEST(PlantedFaults, UnevenBatchesBlameNobodyForGood) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Fault fault;
    fault.uneven = true;
    const Report report = report_of(Training(seed, fault).run());
    expect_only(report, {"uneven_batches"}, seed);
    EXPECT_THAT(finding(report, "uneven_batches").evidence.at(1),
                HasSubstr("of 4 ranks are the longest in some step"))
        << "seed " << seed;
  }
}

TEST(PlantedFaults, ABubbleIsTheSchedules) {
  std::mt19937 random(1);
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const int stages = 2 + static_cast<int>(random() % 3),
              microbatches = stages + static_cast<int>(random() % 4);
    const PipelinePlan plan{.stages = stages,
                            .order = one_forward_one_backward(stages, microbatches),
                            .forward = static_cast<Nanoseconds>(10 + random() % 20) * us,
                            .backward = static_cast<Nanoseconds>(20 + random() % 40) * us};
    const Report report = report_of(pipeline_job(plan));
    expect_only(report, {"pipeline_bubble"}, seed);
    EXPECT_EQ(finding(report, "pipeline_bubble").severity, "note") << "seed " << seed;
  }
}

}  // namespace
}  // namespace lockstep::analyzer

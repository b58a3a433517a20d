// Traces, changed in ways whose effect on the report is known without knowing the report: clocks shifted,
// files and events permuted, time stretched, windows cut in two, a rank taken away. They are our own
// (tests/fixtures/README.md) and, where they are, others' in ../shared/traces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/model/map_times.h"
#include "analyzer/open_job.h"
#include "analyzer/report/json.h"
#include "analyzer/test_analysis.h"
#include "tests/fixtures/fixtures.h"
#include "tests/temporary_folder.h"

namespace lockstep::analyzer {
namespace {

namespace fs = std::filesystem;

Job opened(const std::vector<std::string>& paths, Clocks clocks = Clocks::automatic) {
  Result<Job> job = open_job(paths, {}, clocks);
  EXPECT_TRUE(job.ok()) << (job.ok() ? "" : job.error().message);
  return job.ok() ? std::move(job).value() : Job{};
}

Analysis analyzed(const Job& job, const AnalysisOptions& options = {}) {
  return checked_analysis(job, options);
}

// The whole report, but for the name that it was asked for by.
std::string text_of(Report report) {
  report.path = "";
  std::ostringstream out;
  write_json(report, out);
  return out.str();
}

std::string unzipped(const fs::path& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  std::string text;
  std::array<char, 1 << 16> buffer{};
  for (int size = 0; (size = gzread(file, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(size));
  gzclose(file);
  return text;
}

// Every duration of the report that a clock could have a part in.
std::vector<std::int64_t> durations_of(const Report& report) {
  std::vector<std::int64_t> durations;
  const auto add = [&](const Measures& measures) {
    for (const std::int64_t ns :
         {measures.compute_ns, measures.communication_ns, measures.overlap_ns,
          measures.exposed_communication_ns, measures.collective_wait_ns, measures.hidden_collective_wait_ns,
          measures.p2p_wait_ns, measures.hidden_p2p_wait_ns})
      durations.push_back(ns);
    durations.insert(durations.end(), measures.partition.ns.begin(), measures.partition.ns.end());
  };
  for (const RankReport& rank : report.ranks) add(rank.measures);
  for (const StepReport& step : report.steps) add(step.measures);
  for (const CollectiveReport& collective : report.collectives)
    for (const CollectiveRank& rank : collective.ranks)
      durations.push_back(rank.wait_ns), durations.push_back(rank.transfer_ns);
  return durations;
}

// A file, or a folder of one job.
struct Trace {
  const char* name;
  bool ours = true;
  std::string path() const {
    return ours ? test::fixture(name) : std::string(LOCKSTEP_SOURCE_DIR) + "/../shared/traces/" + name;
  }
};

class MetamorphicTrace : public testing::TestWithParam<Trace> {
 protected:
  void SetUp() override {
    if (!fs::exists(GetParam().path())) GTEST_SKIP() << "no traces of others in ../shared/traces";
  }
  const std::string path_ = GetParam().path();
};
// A folder of Kineto JSON, one file a rank, where each collective is of all ranks.
class MetamorphicJob : public MetamorphicTrace {};
// Of so many ranks that one can be told from the others.
class MetamorphicClocks : public MetamorphicTrace {};

std::string identifier(const testing::TestParamInfo<Trace>& trace) {
  std::string name = (trace.param.ours ? "fixture " : "others ") + std::string(trace.param.name);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}
constexpr bool kOthers = false;
INSTANTIATE_TEST_SUITE_P(Of, MetamorphicJob,
                         testing::Values(Trace{"gpu-4rank"}, Trace{"cpu-2rank"},
                                         Trace{"dlrm-8rank", kOthers}),
                         identifier);
INSTANTIATE_TEST_SUITE_P(Of, MetamorphicClocks,
                         testing::Values(Trace{"gpu-4rank"}, Trace{"dlrm-8rank", kOthers}), identifier);
INSTANTIATE_TEST_SUITE_P(
    Of, MetamorphicTrace,
    testing::Values(Trace{"gpu-4rank"}, Trace{"cpu-2rank"}, Trace{"nsys-2gpu"}, Trace{"dlrm-8rank", kOthers},
                    Trace{"hta/nccl_data.json.gz", kOthers}, Trace{"hta/negative_queue.json.gz", kOthers},
                    Trace{"hta/sampled_rank-0.json.gz", kOthers}, Trace{"nsys-2gpu", kOthers}),
    identifier);

struct Shift {
  std::size_t rank;
  std::int64_t by;
};
void shift(RankTrace& rank, std::int64_t by) {
  ASSERT_TRUE(map_times(rank, [by](Nanoseconds time) { return time + by; }));
}

// Each rank a clock of its own: which offset it had makes no difference, and is found.
TEST_P(MetamorphicJob, ShiftingOneRanksClockChangesNothingAndIsFound) {
  const Job recorded = opened({path_}, Clocks::as_recorded);
  Job straight = recorded;
  align_clocks(straight, Clocks::each_rank);
  const std::vector<std::int64_t> expected = durations_of(analyzed(straight).report);
  for (Shift shifted :
       {Shift{3, 1'000'000'000}, Shift{7, -250'000}, Shift{1, 17}, Shift{5, -3'600'000'000'000}}) {
    // Any but the first rank, whose clock all are moved to.
    shifted.rank = 1 + (shifted.rank - 1) % (recorded.ranks.size() - 1);
    Job job = recorded;
    shift(job.ranks[shifted.rank], shifted.by);
    align_clocks(job, Clocks::each_rank);
    const Clock& clock = job.ranks[shifted.rank].clock;
    EXPECT_EQ(clock.evidence, "happened-before");
    EXPECT_NEAR(static_cast<double>(clock.offset_ns - straight.ranks[shifted.rank].clock.offset_ns),
                static_cast<double>(-shifted.by), 4);
    // What the recorded times, all of one host, say themselves.
    EXPECT_LE(std::abs(clock.offset_ns + shifted.by), clock.uncertainty_ns);
    const std::vector<std::int64_t> found = durations_of(analyzed(job).report);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], 200) << "rank " << shifted.rank;
  }
}

// A host of its own, without being told: the wait that it causes is found against the shared clock's.
TEST_P(MetamorphicClocks, AClockThatContradictsTheOthersIsFoundUnasked) {
  const Job straight = opened({path_});
  const Report expected = analyzed(straight).report;
  for (const std::int64_t by : {std::int64_t{5'000'000'000}, std::int64_t{-40'000'000}}) {
    Job job = opened({path_}, Clocks::as_recorded);
    shift(job.ranks[3], by);
    align_clocks(job);
    const std::int64_t uncertainty = job.ranks[3].clock.uncertainty_ns;
    EXPECT_LE(std::abs(job.ranks[3].clock.offset_ns + by), uncertainty);
    EXPECT_LT(uncertainty, 200'000);
    const Report report = analyzed(job).report;
    ASSERT_EQ(report.collectives.size(), expected.collectives.size());
    for (std::size_t i = 0; i < expected.collectives.size(); ++i) {
      const CollectiveReport &was = expected.collectives[i], &is = report.collectives[i];
      ASSERT_EQ(is.ranks.size(), was.ranks.size());
      if (is.last_arriver) {
        EXPECT_EQ(is.last_arriver, was.last_arriver) << i;
      }
      for (std::size_t rank = 0; rank < was.ranks.size(); ++rank)
        EXPECT_LE(std::abs(is.ranks[rank].wait_ns - was.ranks[rank].wait_ns), uncertainty)
            << i << " " << rank;
    }
    ASSERT_FALSE(report.blame.empty());
    EXPECT_EQ(report.blame.front().rank, expected.blame.front().rank);
  }
}

TEST_P(MetamorphicJob, TheOrderOfFilesAndEventsChangesNothing) {
  const test::TemporaryFolder folder;
  std::mt19937 random(11);
  std::vector<std::string> paths, shuffled;
  std::set<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_)) files.insert(entry.path());
  for (const fs::path& file : files) {
    const std::string name = file.stem();  // without .gz
    nlohmann::json document = nlohmann::json::parse(unzipped(file));
    paths.push_back(folder.write("straight/" + name, document.dump()));
    auto& events = document["traceEvents"];
    std::shuffle(events.begin(), events.end(), random);
    shuffled.push_back(folder.write("shuffled/" + name, document.dump()));
  }
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  Report one = analyzed(opened(paths)).report, other = analyzed(opened(shuffled)).report;
  EXPECT_EQ(text_of(std::move(one)), text_of(std::move(other)));
}

TEST_P(MetamorphicTrace, StretchingTimeStretchesTimesAndKeepsRatios) {
  constexpr std::int64_t kFactor = 3;
  const Job job = opened({path_}, Clocks::as_recorded);
  Job stretched = job;
  for (RankTrace& rank : stretched.ranks) {
    // From the first event on: times since 1970 have no room for it.
    const Nanoseconds zero = span_of_events(job.ranks.front()).span.begin;
    ASSERT_TRUE(map_times(rank, [zero](Nanoseconds time) { return zero + (time - zero) * kFactor; }));
    rank.resolution_ns *= kFactor;
  }
  const Report was = analyzed(job).report, is = analyzed(stretched).report;
  const std::vector<std::int64_t> before = durations_of(was), after = durations_of(is);
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i], before[i] * kFactor);
  for (std::size_t rank = 0; rank < was.ranks.size(); ++rank) {
    EXPECT_EQ(is.ranks[rank].measures.overlap_ratio, was.ranks[rank].measures.overlap_ratio);
    EXPECT_EQ(is.ranks[rank].measures.window_ns, was.ranks[rank].measures.window_ns * kFactor);
  }
  ASSERT_EQ(is.blame.size(), was.blame.size());
  for (std::size_t i = 0; i < was.blame.size(); ++i) {
    EXPECT_EQ(is.blame[i].rank, was.blame[i].rank);
    EXPECT_EQ(is.blame[i].blame_ns, was.blame[i].blame_ns * kFactor);
  }
}

// Any cut, not only at a step: the two sides add up to the whole, cause by cause.
TEST_P(MetamorphicTrace, TheTwoSidesOfACutAddUpToTheWhole) {
  std::mt19937_64 random(3);
  const Job job = opened({path_});
  const Analysis analysis = analyzed(job);
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
    const RankTimeline timeline = timeline_of(job, analysis, rank);
    const TimeSpan span = span_of_events(job.ranks[rank]).span;
    const Measures whole = measures_of(timeline, span.begin, span.end);
    std::vector<Nanoseconds> cuts;
    for (const StepMark& step : job.ranks[rank].steps) cuts.push_back(step.begin);
    for (int i = 0; i < 20; ++i)
      cuts.push_back(span.begin +
                     static_cast<Nanoseconds>(random() % static_cast<std::uint64_t>(span.end - span.begin)));
    for (const Nanoseconds cut : cuts) {
      const Measures left = measures_of(timeline, span.begin, cut),
                     right = measures_of(timeline, cut, span.end);
      for (std::size_t cause = 0; cause < kCauseCount; ++cause)
        ASSERT_EQ(left.partition.ns[cause] + right.partition.ns[cause], whole.partition.ns[cause]) << cause;
      ASSERT_EQ(left.overlap_ns + right.overlap_ns, whole.overlap_ns);
      ASSERT_EQ(left.collective_wait_ns + right.collective_wait_ns, whole.collective_wait_ns);
      ASSERT_EQ(left.p2p_wait_ns + right.p2p_wait_ns, whole.p2p_wait_ns);
    }
  }
}

TEST_P(MetamorphicJob, ARankTakenAwayIsMissedAndMovesNothingElse) {
  const Job all = opened({path_});
  const Report whole = analyzed(all).report;
  for (std::size_t away = 0; away < all.ranks.size(); ++away) {
    const std::int32_t number = all.ranks[away].rank;
    Job job = all;
    job.ranks.erase(job.ranks.begin() + static_cast<std::ptrdiff_t>(away));
    job.ranks_missing = {number};
    const Report report = analyzed(job).report;
    ASSERT_EQ(report.collectives.size(), whole.collectives.size());
    for (const CollectiveReport& collective : report.collectives) EXPECT_TRUE(collective.partial);
    for (const RankReport& rank : report.ranks) {
      const RankReport& was = *std::find_if(whole.ranks.begin(), whole.ranks.end(),
                                            [&](const RankReport& other) { return other.rank == rank.rank; });
      EXPECT_EQ(rank.measures.compute_ns, was.measures.compute_ns);
      EXPECT_EQ(rank.measures.communication_ns, was.measures.communication_ns);
      EXPECT_EQ(rank.measures.overlap_ns, was.measures.overlap_ns);
      EXPECT_EQ(rank.measures.window_ns, was.measures.window_ns);
    }
    // Waits are over those present: the same, unless the one away was waited for, and never longer.
    std::map<std::pair<std::size_t, std::int32_t>, std::int64_t> waits;
    for (std::size_t i = 0; i < whole.collectives.size(); ++i)
      for (const CollectiveRank& rank : whole.collectives[i].ranks) waits[{i, rank.rank}] = rank.wait_ns;
    for (std::size_t i = 0; i < report.collectives.size(); ++i) {
      Nanoseconds last_present = 0, arrival_away = 0;
      for (const CollectiveRank& rank : whole.collectives[i].ranks) {
        if (rank.rank == number)
          arrival_away = rank.arrival_ns;
        else
          last_present = std::max(last_present, rank.arrival_ns);
      }
      for (const CollectiveRank& rank : report.collectives[i].ranks) {
        if (arrival_away <= last_present) {
          EXPECT_EQ(rank.wait_ns, (waits[{i, rank.rank}])) << i;
        } else {
          EXPECT_LE(rank.wait_ns, (waits[{i, rank.rank}])) << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lockstep::analyzer

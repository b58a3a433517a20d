// Real traces made by others, with figures that are known from elsewhere: the whole way from files to the
// report. They stand beside a checkout in ../shared/traces and are no part of the project: without them these
// tests skip (fixture_answers_test.cpp needs none).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analyzer/test_analyzed.h"
#include "tests/temporary_folder.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class KnownAnswers : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kTraces)) GTEST_SKIP() << "no traces of others in ../shared/traces";
  }

  static Analyzed analyzed(const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(kTraces + name);
    return analyzed_files(paths);
  }
  static std::int64_t to_us(std::int64_t ns) { return ns / 1000; }

  inline static const std::string kTraces = LOCKSTEP_SOURCE_DIR "/../shared/traces/";
};

TEST_F(KnownAnswers, Dlrm) {
  const Analyzed result = analyzed({"dlrm-8rank"});
  const Report& report = result.analysis.report;
  ASSERT_EQ(report.ranks.size(), 8u);
  expect_exact_partitions(result.analysis);

  // Communication, overlap, exposed, in µs.
  const std::int64_t expected[8][3] = {{5798, 261, 5537}, {11336, 280, 11056}, {3492, 275, 3217},
                                       {9774, 324, 9450}, {6587, 37, 6550},    {6251, 40, 6211},
                                       {3558, 269, 3289}, {1746, 166, 1580}};
  for (std::size_t rank = 0; rank < 8; ++rank) {
    const Measures& measures = report.ranks[rank].measures;
    EXPECT_EQ(to_us(measures.communication_ns), expected[rank][0]) << rank;
    EXPECT_EQ(to_us(measures.overlap_ns), expected[rank][1]) << rank;
    EXPECT_EQ(to_us(measures.exposed_communication_ns), expected[rank][2]) << rank;
  }

  ASSERT_EQ(report.collectives.size(), 8u);
  EXPECT_EQ(report.unmatched, 0);
  std::vector<std::int32_t> last_arrivers;
  std::vector<std::int64_t> start_skews, end_skews;
  std::int64_t waited = 0;
  for (const CollectiveReport& collective : report.collectives) {
    last_arrivers.push_back(collective.last_arriver.value_or(-1));
    const auto by_arrival = [](const CollectiveRank& a, const CollectiveRank& b) {
      return a.arrival_ns < b.arrival_ns;
    };
    const auto by_end = [](const CollectiveRank& a, const CollectiveRank& b) { return a.end_ns < b.end_ns; };
    const auto [first, last] =
        std::minmax_element(collective.ranks.begin(), collective.ranks.end(), by_arrival);
    const auto [first_end, last_end] =
        std::minmax_element(collective.ranks.begin(), collective.ranks.end(), by_end);
    start_skews.push_back(to_us(last->arrival_ns - first->arrival_ns));
    end_skews.push_back(to_us(last_end->end_ns - first_end->end_ns));
    waited += collective.wait_ns;
    EXPECT_FALSE(collective.partial);
  }
  EXPECT_THAT(last_arrivers, ElementsAre(7, 7, 7, 7, 7, 5, 5, 4));
  EXPECT_THAT(start_skews, ElementsAre(7624, 1101, 168, 125, 223, 534, 584, 885));
  EXPECT_THAT(end_skews, ElementsAre(2, 2, 1, 2, 5, 3, 5, 7));
  EXPECT_EQ(to_us(waited), 46843);
  std::int64_t communication = 0;
  for (const RankReport& rank : report.ranks) communication += rank.measures.communication_ns;
  EXPECT_EQ(to_us(communication), 48542);
}

// A trace alone: activities of class collective and p2p, overlap ratio in percent as published.
struct SingleRank {
  std::string file;
  std::size_t kernels = 0, communication_kernels = 0;
  double overlap_percent = 0;
};

TEST_F(KnownAnswers, HtaOverlap) {
  const SingleRank expected[] = {{"hta/sampled_rank-0.json.gz", 1154, 10, 14.95},
                                 {"hta/sampled_rank-1.json.gz", 1104, 10, 19.93},
                                 {"hta/nccl_data.json.gz", 2700, 21, 15.61},
                                 {"hta/negative_queue.json.gz", 6080, 80, 1.36}};
  for (const SingleRank& trace : expected) {
    SCOPED_TRACE(trace.file);
    const Analyzed result = analyzed({trace.file});
    ASSERT_EQ(result.job.ranks.size(), 1u);
    expect_exact_partitions(result.analysis);
    std::size_t kernels = 0, communication = 0;
    for (const Activity& activity : result.job.ranks[0].activities) {
      const bool communicates = activity.communication != kNone;
      communication += communicates ? 1 : 0;
      kernels += communicates || activity.activity_class == Class::compute ? 1 : 0;
    }
    EXPECT_EQ(kernels, trace.kernels);
    EXPECT_EQ(communication, trace.communication_kernels);
    ASSERT_TRUE(result.analysis.report.ranks[0].measures.overlap_ratio.has_value());
    EXPECT_NEAR(*result.analysis.report.ranks[0].measures.overlap_ratio * 100, trace.overlap_percent, 0.005);
  }
}

// Two ranks of a job of 128: ten collectives each, but six of the pairs contradict the clock, so that the
// other four are not believed either.
TEST_F(KnownAnswers, HtaPairHasSixImpossibleMatches) {
  const Analyzed result = analyzed({"hta/sampled_rank-0.json.gz", "hta/sampled_rank-1.json.gz"});
  expect_exact_partitions(result.analysis);
  std::size_t together = 0, alone = 0;
  for (const CollectiveReport& collective : result.analysis.report.collectives) {
    EXPECT_TRUE(collective.partial);  // 126 ranks have no record
    (collective.ranks.size() == 2 ? together : alone) += 1;
  }
  EXPECT_EQ(together, 0u);
  EXPECT_EQ(alone, 20u);
  EXPECT_EQ(result.analysis.report.unmatched, 20);
  EXPECT_TRUE(result.analysis.report.blame.empty());
  std::map<std::string, std::string> warnings;
  for (const Warning& warning : result.analysis.report.warnings) warnings[warning.code] = warning.message;
  EXPECT_EQ(warnings["matches_impossible"].substr(0, 14), "6 of 10 matche");
  EXPECT_EQ(warnings["matches_distrusted"].substr(0, 6), "4 more");
}

// Two GPUs of one report. All waits say device 0, those of the second process too.
TEST_F(KnownAnswers, NsysOfTwoGpus) {
  const Analyzed result = analyzed({"nsys-2gpu/mfu_2gpu_before.sqlite.gz"});
  ASSERT_EQ(result.job.ranks.size(), 2u);
  expect_exact_partitions(result.analysis);
  const struct {
    std::size_t kernels;
    std::int64_t communication_ns, compute_ns;
  } expected[] = {{1993, 17'172'652, 253'690'832}, {2017, 8'229'100, 256'095'624}};
  for (std::size_t rank = 0; rank < 2; ++rank) {
    std::size_t kernels = 0;
    for (const Activity& activity : result.job.ranks[rank].activities)
      kernels += activity.communication != kNone || activity.activity_class == Class::compute ? 1 : 0;
    EXPECT_EQ(kernels, expected[rank].kernels);
    const Measures& measures = result.analysis.report.ranks[rank].measures;
    EXPECT_EQ(measures.communication_ns, expected[rank].communication_ns);
    EXPECT_EQ(measures.compute_ns, expected[rank].compute_ns);
    EXPECT_EQ(measures.overlap_ns, 0);
  }
  EXPECT_EQ(result.analysis.report.unmatched, 0);
  ASSERT_EQ(result.analysis.report.collectives.size(), 33u);
  // NCCL's kernel is SendRecv in all of them; PyTorch's ranges around the launches know better. The first was
  // launched before the recording began, and is what the others on its stream are.
  for (const CollectiveReport& collective : result.analysis.report.collectives) {
    EXPECT_EQ(collective.operation, Operation::all_to_all);
    EXPECT_EQ(collective.ranks.size(), 2u);
    EXPECT_FALSE(collective.partial);
  }
}

// A Megatron job of 16 ranks. The GPUs of ranks 12 and 14 were broken; rank 12 never came to the next
// operation, and everybody waited for it.
TEST_F(KnownAnswers, FlightRecorderWithTwoBrokenGpus) {
  const Analyzed result = analyzed({"flight-recorder/gpu_error_1st"});
  EXPECT_EQ(result.job.ranks.size(), 16U);
  EXPECT_THAT(result.job.ranks_missing, IsEmpty());
  for (const RankReport& rank : result.analysis.report.ranks)
    EXPECT_EQ(rank.measures.overlap_ratio, std::nullopt) << "nobody wrote down what was computed";
  EXPECT_THAT(titles_of(result.analysis.report, "hang"),
              ElementsAre("the job hung in nccl:all_to_all (group EXPERT_MODEL_PARALLEL_GROUP of ranks 12, "
                          "13, 14, 15, number 20537): rank 12 never came"));
  EXPECT_THAT(titles_of(result.analysis.report, "device_stuck"),
              ElementsAre("the devices of ranks 12, 14 stand still"));
  // What stands still is why the others hang, and comes first.
  EXPECT_EQ(result.analysis.report.findings.front().code, "device_stuck");
  EXPECT_THAT(result.analysis.report.findings.at(1).remedy,
              HasSubstr("rank 12 cannot come: its device stands still"));
}

// The same incidents without one of the dumps, as they often are collected: nobody who came is accused, and
// of whom nobody knows it is said so.
class DumpMissing : public KnownAnswers, public testing::WithParamInterface<int> {
 protected:
  std::vector<std::string> all_but(const std::string& folder, int left_out) const {
    std::vector<std::string> names;
    for (int rank = 0; rank < 16; ++rank)
      if (rank != left_out) names.push_back(folder + "/_dump_" + std::to_string(rank));
    return names;
  }
};

TEST_P(DumpMissing, OfTwoBrokenGpus) {
  const Analyzed result = analyzed(all_but("flight-recorder/gpu_error_1st", GetParam()));
  const std::vector<std::string> hangs = titles_of(result.analysis.report, "hang");
  ASSERT_FALSE(hangs.empty());
  for (const std::string& title : hangs) {
    if (title.find("never came") != std::string::npos) {
      EXPECT_THAT(title, HasSubstr("number 20537): rank 12 never came"));
    } else {
      EXPECT_THAT(title, HasSubstr("rank " + std::to_string(GetParam()) + " left no trace"));
    }
  }
}

TEST_P(DumpMissing, OfTwoSilentRanks) {
  const Analyzed result = analyzed(all_but("flight-recorder/lock_gil_2nd", GetParam()));
  const std::vector<std::string> hangs = titles_of(result.analysis.report, "hang");
  for (const int culprit : {10, 15}) {
    const std::string rank = ": rank " + std::to_string(culprit);
    EXPECT_THAT(hangs, testing::Contains(
                           HasSubstr(rank + (culprit == GetParam() ? " left no trace" : " never came"))));
  }
  for (const std::string& title : hangs) {
    if (title.find("never came") == std::string::npos) continue;
    EXPECT_TRUE(title.find("rank 10 ") != std::string::npos || title.find("rank 15 ") != std::string::npos)
        << title;
  }
}

INSTANTIATE_TEST_SUITE_P(EachRank, DumpMissing, testing::Range(0, 16));

// The same incidents with one of the dumps cut: what does not stand in it proves nothing, and the incident's
// real cause stands first.
class DumpCut : public KnownAnswers, public testing::WithParamInterface<int> {
 protected:
  // From the first byte behind the groups, where the file is a dump at all, to the last but one.
  template <class Check>
  void cut_at_many_lengths(const std::string& incident, Check check) const {
    const std::string whole = test::read_whole_file(kTraces + incident + path_of(GetParam()));
    ASSERT_GT(whole.size(), 1000U);
    const test::TemporaryFolder folder;
    std::vector<std::string> paths;
    for (int rank = 0; rank < 16; ++rank)
      paths.push_back(rank == GetParam() ? (folder.path() / ("_dump_" + std::to_string(rank))).string()
                                         : kTraces + incident + path_of(rank));
    constexpr std::size_t kCuts = 12;
    for (std::size_t i = 0; i <= kCuts; ++i) {
      const std::size_t length = 1000 + (whole.size() - 1001) * i / kCuts;
      SCOPED_TRACE(length);
      (void)folder.write("_dump_" + std::to_string(GetParam()), whole.substr(0, length));
      check(analyzed_files(paths).analysis.report);
    }
  }

 private:
  static std::string path_of(int rank) { return "/_dump_" + std::to_string(rank); }
};

TEST_P(DumpCut, OfTwoBrokenGpus) {
  cut_at_many_lengths("flight-recorder/gpu_error_1st", [](const Report& report) {
    const std::vector<std::string> hangs = titles_of(report, "hang");
    ASSERT_FALSE(hangs.empty());
    // Rank 12 waits for rank 13 in another operation: without that one's dump it may be as innocent.
    if (GetParam() != 12 && GetParam() != 13) {
      EXPECT_THAT(hangs.front(), HasSubstr("number 20537): rank 12 never came"));
    }
    for (const std::string& title : hangs) {
      if (title.find("never came") != std::string::npos) {
        EXPECT_THAT(title, HasSubstr("number 20537): rank 12 never came"));
      } else {
        EXPECT_THAT(title, HasSubstr("the dump of rank " + std::to_string(GetParam()) + " is cut"));
      }
    }
  });
}

TEST_P(DumpCut, OfTwoSilentRanks) {
  cut_at_many_lengths("flight-recorder/lock_gil_2nd", [](const Report& report) {
    const std::vector<std::string> hangs = titles_of(report, "hang");
    for (const int culprit : {10, 15}) {
      const std::string never_came = ": rank " + std::to_string(culprit) + " never came";
      const std::string cut = ": the dump of rank " + std::to_string(GetParam()) + " is cut";
      if (culprit == GetParam()) {
        EXPECT_THAT(hangs, testing::Contains(testing::AnyOf(HasSubstr(never_came), HasSubstr(cut))));
      } else {
        EXPECT_THAT(hangs, testing::Contains(HasSubstr(never_came)));
      }
    }
    for (const std::string& title : hangs) {
      if (title.find("never came") == std::string::npos) continue;
      EXPECT_TRUE(title.find("rank 10 ") != std::string::npos || title.find("rank 15 ") != std::string::npos)
          << title;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(EachRank, DumpCut, testing::Range(0, 16));

// Dumps that an earlier incident left in the folder are not merged with those of the last one.
TEST_F(KnownAnswers, FlightRecorderOfTwoIncidentsIsOne) {
  std::vector<std::string> names;
  for (int rank = 0; rank < 16; ++rank) {
    const bool stale = rank == 8 || rank == 9 || rank == 11;
    names.push_back(std::string(stale ? "flight-recorder/lock_gil_2nd" : "flight-recorder/gpu_error_1st") +
                    "/_dump_" + std::to_string(rank));
  }
  const Analyzed result = analyzed(names);
  EXPECT_EQ(result.job.ranks.size(), 13U);
  EXPECT_EQ(std::count_if(result.job.warnings.begin(), result.job.warnings.end(),
                          [](const Warning& warning) { return warning.code == "another_job"; }),
            3);
  EXPECT_THAT(titles_of(result.analysis.report, "hang"),
              ElementsAre(HasSubstr("number 20537): rank 12 never came")));
}

// One dump alone accuses nobody.
TEST_F(KnownAnswers, OneFlightRecordersDumpAloneNamesNoCulprit) {
  const Analyzed result = analyzed({"flight-recorder/gpu_error_1st/_dump_3"});
  const std::vector<std::string> hangs = titles_of(result.analysis.report, "hang");
  EXPECT_LE(hangs.size(), 1U);
  for (const std::string& title : hangs) EXPECT_THAT(title, HasSubstr("cannot be told"));
}

// Ranks 10 and 15 were kept from issuing anything.
TEST_F(KnownAnswers, FlightRecorderWithTwoSilentRanks) {
  const Analyzed result = analyzed({"flight-recorder/lock_gil_2nd"});
  const std::vector<std::string> hangs = titles_of(result.analysis.report, "hang");
  ASSERT_EQ(hangs.size(), 2U);
  EXPECT_THAT(hangs,
              UnorderedElementsAre(HasSubstr(": rank 10 never came"), HasSubstr(": rank 15 never came")));
  EXPECT_THAT(titles_of(result.analysis.report, "device_stuck"), IsEmpty());
}

}  // namespace
}  // namespace lockstep::analyzer

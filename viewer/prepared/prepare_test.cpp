// What is prepared is what the analyzer found: every field comes back as it was.
#include "viewer/prepared/prepare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/report/json.h"
#include "analyzer/test_analysis.h"
#include "viewer/prepared/serialize.h"
#include "viewer/testing/synthetic_job.h"

namespace lockstep::viewer {
namespace {

using testing::HasSubstr;

struct Prepared {
  Prepared() : Prepared(synthetic_job()) {}
  explicit Prepared(analyzer::Job made) : job(std::move(made)), analysis(analyzer::checked_analysis(job)) {
    tables = prepare(job, analysis, TablesWriter::in_memory().value(), 42).value();
    contents = deserialize(tables->contents()).value();
  }
  analyzer::Job job;
  analyzer::Analysis analysis;
  std::shared_ptr<const Tables> tables;
  Contents contents;
};

// The report's JSON names every field of it.
std::string json_without_arrays(analyzer::Report report) {
  report.steps.clear();
  report.collectives.clear();
  return analyzer::to_json(report);
}

TEST(Prepare, TheReportComesBackWhole) {
  const Prepared run;
  ASSERT_FALSE(run.analysis.report.findings.empty());
  EXPECT_EQ(json_without_arrays(run.contents.report), json_without_arrays(run.analysis.report));
}

TEST(Prepare, WhereARankComputesLongerComesBack) {
  const analyzer::Job job = synthetic_job();
  analyzer::Analysis analysis = analyzer::checked_analysis(job);
  ASSERT_FALSE(analysis.report.findings.empty());
  const analyzer::ComparedParts parts{
      3, 2, {{"layers.7.mlp", "aten::mm", false, 900, 300}, {"", "", true, 70, 80}}};
  analysis.report.findings[0].parts = parts;
  const auto tables = prepare(job, analysis, TablesWriter::in_memory().value(), 42).value();
  EXPECT_EQ(deserialize(tables->contents()).value().report.findings[0].parts, parts);
}

TEST(Prepare, TheVerdictIsTheReports) {
  EXPECT_THAT(Prepared().contents.verdict, HasSubstr("rank 2"));
}

template <class T>
bool same_bytes(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

TEST(Prepare, EveryRanksArraysComeBack) {
  const Prepared run;
  ASSERT_EQ(run.contents.ranks.size(), run.job.ranks.size());
  for (std::size_t i = 0; i < run.job.ranks.size(); ++i) {
    const analyzer::RankTrace& trace = run.job.ranks[i];
    const RankContents& rank = run.contents.ranks[i];
    EXPECT_EQ(rank.rank, trace.rank);
    EXPECT_EQ(rank.host, trace.host);
    EXPECT_EQ(rank.lanes.size(), trace.lanes.size());
    EXPECT_TRUE(same_bytes(run.tables->array(rank.activities),
                           std::span<const analyzer::Activity>(trace.activities)));
    EXPECT_TRUE(same_bytes(run.tables->array(rank.communications),
                           std::span<const analyzer::Communication>(trace.communications)));
    EXPECT_TRUE(same_bytes(run.tables->array(rank.host_ranges),
                           std::span<const analyzer::HostRange>(trace.host_ranges)));
    EXPECT_TRUE(std::ranges::equal(run.tables->array(rank.segments), run.analysis.segments[i]));
    EXPECT_TRUE(std::ranges::equal(run.tables->array(rank.collective_of), run.analysis.collective_of[i]));
    EXPECT_EQ(run.tables->array(rank.steps).size(), trace.steps.size());
  }
}

TEST(Prepare, StepsAndCollectivesStandInArrays) {
  const Prepared run;
  const analyzer::Report& report = run.analysis.report;
  const auto steps = run.tables->array(run.contents.steps);
  ASSERT_EQ(steps.size(), report.steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].begin_ns, report.steps[i].begin_ns);
    EXPECT_EQ(steps[i].measures.partition.ns, report.steps[i].measures.partition.ns);
  }
  const auto collectives = run.tables->array(run.contents.collectives);
  const auto ranks = run.tables->array(run.contents.collective_ranks);
  ASSERT_EQ(collectives.size(), report.collectives.size());
  for (std::size_t i = 0; i < collectives.size(); ++i) {
    EXPECT_EQ(collectives[i].id, report.collectives[i].id);
    EXPECT_EQ(collectives[i].wait_ns, report.collectives[i].wait_ns);
    ASSERT_EQ(collectives[i].parts, report.collectives[i].ranks.size());
    for (std::size_t part = 0; part < collectives[i].parts; ++part)
      EXPECT_EQ(ranks[collectives[i].first_part + part].wait_ns, report.collectives[i].ranks[part].wait_ns);
  }
  const auto costliest = run.tables->array(run.contents.costliest);
  ASSERT_FALSE(costliest.empty());
  for (std::size_t i = 1; i < costliest.size(); ++i)
    EXPECT_GE(collectives[costliest[i - 1]].wait_ns, collectives[costliest[i]].wait_ns);
}

// What start-up and warm-up cost is no part of what is said below "All below is over … steps".
TEST(Prepare, TheCostliestCollectivesAreOfTheSteadySteps) {
  const Prepared all;
  const std::uint32_t worst = all.tables->array(all.contents.costliest).front();
  const auto collectives = all.tables->array(all.contents.collectives);
  const std::int64_t step = collectives[worst].step;
  ASSERT_TRUE(collectives[worst].has_step);
  analyzer::Analysis analysis = analyzer::checked_analysis(all.job);
  analysis.report.steady = analyzer::SteadyReport{{}, {}, analysis.report.ranks};
  for (const std::int64_t present : analysis.report.steps_present)
    if (present != step) analysis.report.steady->steps.push_back(present);
  const auto tables = prepare(all.job, analysis, TablesWriter::in_memory().value(), 42).value();
  const Contents contents = deserialize(tables->contents()).value();
  const auto costliest = tables->array(contents.costliest);
  ASSERT_FALSE(costliest.empty());
  for (const std::uint32_t index : costliest) EXPECT_NE(collectives[index].step, step);
}

TEST(Serialize, WhatIsNotWhatWasWrittenIsAnError) {
  const Prepared run;
  const std::string bytes(run.tables->contents());
  EXPECT_TRUE(deserialize(bytes).ok());
  EXPECT_FALSE(deserialize(bytes.substr(0, bytes.size() / 2)).ok());
  EXPECT_FALSE(deserialize("").ok());
}

// Labels of a rank's lanes of communication.
std::vector<std::string> communication_labels(const analyzer::Job& job) {
  std::vector<std::string> labels;
  const Prepared run(job);
  for (const LaneContents& lane : run.contents.ranks[0].tracks)
    if (lane.role == LaneRole::communication) labels.push_back(lane.label);
  return labels;
}

TEST(Prepare, LanesOfCommunicationAreNamedByTheirGroups) {
  analyzer::Job job = synthetic_job();
  EXPECT_EQ(communication_labels(job), std::vector<std::string>{"world · network"});
  job.groups[0].description = "dp";
  EXPECT_EQ(communication_labels(job), std::vector<std::string>{"dp · network"});
  // The third operation is another group's: whose are more stands first.
  job.groups.push_back({"tp", "", {0, 1, 2, 3}});
  for (analyzer::RankTrace& rank : job.ranks) rank.communications[2].group = 1;
  EXPECT_EQ(communication_labels(job), std::vector<std::string>{"dp, tp · network"});
  // Said once is enough; and nothing is made up.
  job.groups[1].name = "dp";
  for (analyzer::RankTrace& rank : job.ranks) rank.lanes[2].name = "dp";
  EXPECT_EQ(communication_labels(job), std::vector<std::string>{"dp"});
  for (analyzer::RankTrace& rank : job.ranks) {
    rank.lanes[2].name = "stream 20";
    for (analyzer::Communication& communication : rank.communications) communication.group = analyzer::kNone;
  }
  EXPECT_EQ(communication_labels(job), std::vector<std::string>{"stream 20"});
}

// Lanes of messages say with whom, and which way, as far as that is the same of all.
TEST(Prepare, LanesOfMessagesSayWhereTheyGo) {
  using analyzer::Operation;
  const auto label = [](std::vector<std::pair<Operation, std::int32_t>> messages) {
    analyzer::Job job = synthetic_job();
    std::vector<analyzer::Communication>& all = job.ranks[0].communications;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].operation = messages[i % messages.size()].first;
      all[i].peer = messages[i % messages.size()].second;
    }
    return communication_labels(job).at(0);
  };
  EXPECT_EQ(label({{Operation::send, 2}}), "world · to 2 · network");
  EXPECT_EQ(label({{Operation::recv, 0}}), "world · from 0 · network");
  EXPECT_EQ(label({{Operation::send, 2}, {Operation::recv, 2}}), "world · with 2 · network");
  EXPECT_EQ(label({{Operation::send, 2}, {Operation::send, 3}}), "world · sends · network");
  EXPECT_EQ(label({{Operation::recv, 2}, {Operation::recv, analyzer::kNoRank}}),
            "world · receives · network");
  EXPECT_EQ(label({{Operation::send, 2}, {Operation::recv, 3}}), "world · network");
  EXPECT_EQ(label({{Operation::send, analyzer::kNoRank}, {Operation::recv, analyzer::kNoRank}}),
            "world · network");
  EXPECT_EQ(label({{Operation::send, 2}, {Operation::all_reduce, 2}}), "world · network");
}

}  // namespace
}  // namespace lockstep::viewer

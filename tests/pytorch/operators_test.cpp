// Modules and operators of unmodified PyTorch programs (`record --operators`): that they are recorded, that
// the program is as without, and that the comparison of ranks finds the module that is slower.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "analyzer/open_job.h"
#include "analyzer/operators/slow_part.h"
#include "analyzer/test_analysis.h"
#include "tests/end_to_end/support.h"
#include "tests/pytorch/torchrun.h"
#include "trace/events/operator_ranges.h"
#include "trace/reader.h"

namespace lockstep::end_to_end {
namespace {

using testing::HasSubstr;

const std::vector<std::string>& kEnvironment = kQuietEnvironment;
constexpr int kSteps = 60;  // of the job

std::vector<std::string> job_of(const std::string& mode) {
  return ranks_of("operators_job.py", {mode});
}

// How often each range of a category is in the file.
using Counts = std::map<std::string, int>;
struct Recorded {
  std::map<std::string, Counts> by_category;
  std::string problem;
};
Recorded read(const std::string& path) {
  Recorded recorded;
  const Result<trace::Reader> reader = trace::Reader::open(path);
  if (!reader.ok()) {
    ADD_FAILURE() << reader.error().message;
    return recorded;
  }
  std::vector<trace::HostRange> ranges;
  EXPECT_TRUE(reader.value().read(trace::Selection{}, ranges).ok());
  for (const trace::HostRange& range : ranges) {
    EXPECT_LE(range.begin, range.end);
    ++recorded.by_category[std::string(reader.value().string(range.category))]
                          [std::string(reader.value().string(range.name))];
  }
  recorded.problem = reader.value().metadata().at("source.pytorch.problem");
  return recorded;
}

class Operators : public TorchTest {
 protected:
  Outcome record(const std::string& mode, bool operators = true) const {
    std::vector<std::string> command{binary("lockstep"), "record", "--quiet", "-o", run_of(mode, operators)};
    if (operators) command.emplace_back("--operators");
    command.emplace_back("--");
    for (const std::string& word : job_of(mode)) command.push_back(word);
    return run(command, kEnvironment);
  }
  std::string run_of(const std::string& mode, bool operators = true) const {
    return folder_ / (mode + (operators ? "-operators" : "-default"));
  }
  void expect_unchanged(const std::string& mode) const {
    const Outcome plain = run(job_of(mode), kEnvironment);
    const Outcome recorded = record(mode);
    EXPECT_EQ(plain.exit_code, 0) << plain.standard_error;
    EXPECT_EQ(recorded.exit_code, 0) << recorded.standard_error;
    EXPECT_EQ(sorted_lines(recorded.standard_output), sorted_lines(plain.standard_output));
    EXPECT_THAT(plain.standard_output, HasSubstr("rank 1: "));
  }

  TemporaryFolder folder_;
};

TEST_F(Operators, AreRecordedWithTheModulesThatTheyAreOf) {
  expect_unchanged("even");
  const Recorded recorded = read(run_of("even") + "/rank-1.lst");
  EXPECT_EQ(recorded.problem, "");
  const Counts& modules = recorded.by_category.at(trace::kModuleCategory);
  for (const char* module : {"DistributedDataParallel", "Model", "layers.0", "layers.2.mlp.up",
                             "layers.1.norm", "head", "CrossEntropyLoss"}) {
    ASSERT_TRUE(modules.contains(module)) << module;
    EXPECT_EQ(modules.at(module), kSteps) << module;
  }
  const Counts& operators = recorded.by_category.at(trace::kOperatorCategory);
  EXPECT_EQ(operators.at("aten::linear"), kSteps * (3 * 3 + 1));
  EXPECT_EQ(operators.at("aten::relu"), kSteps * 3);
  EXPECT_FALSE(operators.contains("aten::addmm")) << "called by aten::linear";
  EXPECT_EQ(operators.at("AddmmBackward0"), kSteps * (3 * 3 + 1));
  // Where the number of a node stands is learnt in the first steps.
  const Counts& backward = recorded.by_category.at(trace::kModuleBackwardCategory);
  for (const char* module : {"layers.0.mlp.up", "layers.2.norm", "head", "CrossEntropyLoss"}) {
    ASSERT_TRUE(backward.contains(module)) << module;
    EXPECT_GE(backward.at(module), kSteps - 3) << module;
  }
}

TEST_F(Operators, AreOffUnlessAskedFor) {
  const Outcome recorded = record("even", false);
  EXPECT_EQ(recorded.exit_code, 0) << recorded.standard_error;
  const Recorded file = read(run_of("even", false) + "/rank-0.lst");
  for (const char* category :
       {trace::kModuleCategory, trace::kModuleBackwardCategory, trace::kOperatorCategory})
    EXPECT_FALSE(file.by_category.contains(category)) << category;
}

// Losses, and Dynamo's own counts of frames, graphs, breaks and compilations anew.
TEST_F(Operators, LeaveCompiledModulesAsTheyAre) {
  expect_unchanged("compiled");
  const Recorded recorded = read(run_of("compiled") + "/rank-0.lst");
  EXPECT_EQ(recorded.problem, "");
  const Counts& modules = recorded.by_category.at(trace::kModuleCategory);
  EXPECT_EQ(modules.at("DistributedDataParallel"), kSteps);
  EXPECT_FALSE(modules.contains("0.mlp")) << "within a graph";
}

TEST_F(Operators, AModuleThatRaisesIsOver) {
  expect_unchanged("raises");
  const Recorded recorded = read(run_of("raises") + "/rank-0.lst");
  EXPECT_EQ(recorded.by_category.at(trace::kModuleCategory).at("Picky"), kSteps);
  EXPECT_EQ(recorded.by_category.at(trace::kModuleCategory).at("Model"), kSteps);
}

TEST_F(Operators, TheModuleThatIsSlowerOnOneRankIsFound) {
  const Outcome recorded = record("slow");
  ASSERT_EQ(recorded.exit_code, 0) << recorded.standard_error;
  const Result<analyzer::Job> job = analyzer::open_job({run_of("slow")});
  ASSERT_TRUE(job.ok()) << job.error().message;
  const analyzer::Report report = analyzer::checked_analysis(job.value()).report;

  analyzer::SlowPartQuestion question{1, {0, 1}, {}, 0, 0};
  std::int64_t computed[2] = {0, 0};
  for (const analyzer::StepReport& step : report.steps) {
    if (step.step < 2) continue;
    computed[step.rank] += step.measures.compute_ns;
    if (step.rank == 0) question.steps.push_back(step.step);
  }
  const auto count = static_cast<std::int64_t>(question.steps.size());
  ASSERT_GT(count, kSteps / 2);
  question.others_ns = computed[0] / count;
  question.excess_ns = (computed[1] - computed[0]) / count;
  const analyzer::PartComparison found = analyzer::compare_parts(job.value(), question);
  ASSERT_TRUE(found.slow);
  EXPECT_EQ(found.slow->module, "layers.1.mlp");
  EXPECT_GT(found.slow->own_ns, 5 * found.slow->others_ns);
  EXPECT_EQ(found.table.steps, count);
  EXPECT_EQ(found.table.others, 1);
  ASSERT_FALSE(found.table.rows.empty());
  EXPECT_THAT(found.table.rows[0].module, testing::StartsWith("layers.1.mlp"));

  // Whom a machine with other work on it lets the report name is another question; if it is this rank, then
  // so.
  for (const analyzer::Finding& finding : report.findings) {
    if (finding.code != "straggler_persistent" || finding.reason != "computes_longer") continue;
    EXPECT_EQ(finding.rank, 1);
    EXPECT_THAT(finding.title, HasSubstr("in `layers.1.mlp`"));
    EXPECT_FALSE(finding.parts.rows.empty());
  }
}

}  // namespace
}  // namespace lockstep::end_to_end

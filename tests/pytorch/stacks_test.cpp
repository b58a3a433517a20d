// Looks at the Python stacks of an unmodified PyTorch program (`record --stacks N`): that the program is as
// without, and that the comparison of ranks names the function in which one is longer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/open_job.h"
#include "analyzer/stacks/slow_place.h"
#include "tests/end_to_end/support.h"
#include "tests/pytorch/torchrun.h"

namespace lockstep::end_to_end {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Five times the usual number of looks: on a busy machine some come late.
const std::vector<std::string> kEnvironment{"OMP_NUM_THREADS=1", "LOCKSTEP_DEBUG=1", "PYTHONWARNINGS=ignore",
                                            "LOCKSTEP_STACKS=100"};
constexpr std::int64_t kHeldUp = 30'000'000;  // ns in each step of rank 1

std::vector<std::string> job_of(const std::string& mode) {
  return ranks_of("stacks_job.py", {mode});
}

class Stacks : public TorchTest {
 protected:
  Outcome record(const std::string& mode, const std::vector<std::string>& environment = kEnvironment) const {
    std::vector<std::string> command{binary("lockstep"), "record", "--quiet", "-o", folder_ / mode, "--"};
    for (const std::string& word : job_of(mode)) command.push_back(word);
    return run(command, environment);
  }
  analyzer::Job job(const std::string& mode) const {
    Result<analyzer::Job> job = analyzer::open_job({folder_ / mode});
    if (!job.ok()) ADD_FAILURE() << job.error().message;
    return job.ok() ? std::move(job).value() : analyzer::Job{};
  }
  // Where rank 1 is longer, over all steps but the first.
  static analyzer::PlaceComparison compare(const analyzer::Job& job) {
    analyzer::SlowPlaceQuestion question{1, {0, 1}, {}, kHeldUp};
    for (const analyzer::RankTrace& rank : job.ranks)
      for (const analyzer::StepMark& step : rank.steps)
        if (rank.rank == 1 && step.number > 0) question.steps.push_back(step.number);
    return analyzer::compare_places(job, question);
  }

  TemporaryFolder folder_;
};

TEST_F(Stacks, NameTheFunctionInWhichARankSleeps) {
  const Outcome recorded = record("sleep");
  ASSERT_EQ(recorded.exit_code, 0) << recorded.standard_error;
  const analyzer::PlaceComparison found = compare(job("sleep"));
  ASSERT_TRUE(found.known);
  ASSERT_TRUE(found.slow.has_value());
  EXPECT_THAT(found.slow->place, StartsWith("wait_for_nothing (stacks_job.py:"));
  EXPECT_EQ(found.slow->others, 0) << "the other rank never calls it";
}

TEST_F(Stacks, NameTheFunctionThatKeepsTheInterpreterBusy) {
  const Outcome recorded = record("spin");
  ASSERT_EQ(recorded.exit_code, 0) << recorded.standard_error;
  const analyzer::PlaceComparison found = compare(job("spin"));
  ASSERT_TRUE(found.slow.has_value());
  EXPECT_THAT(found.slow->place, StartsWith("count_to_nowhere (stacks_job.py:"));
}

TEST_F(Stacks, LeaveTheProgramAsItIsAndNameOnlyItsOwnFunctions) {
  const Outcome plain = run(job_of("even"), kEnvironment);
  const Outcome recorded = record("even");
  EXPECT_EQ(recorded.exit_code, plain.exit_code) << recorded.standard_error;
  EXPECT_EQ(sorted_lines(recorded.standard_output), sorted_lines(plain.standard_output)) << "losses, threads";
  EXPECT_THAT(plain.standard_output, HasSubstr(", 1 thread"));
  const analyzer::Job read = job("even");
  std::int64_t looks = 0;
  for (const analyzer::RankTrace& rank : read.ranks)
    for (const analyzer::HostRange& range : rank.host_ranges) {
      if (range.kind != analyzer::HostKind::python_place) continue;
      if (range.begin < rank.steps.front().begin || range.end > rank.steps.back().end)
        continue;  // e.g. at exit
      ++looks;
      EXPECT_LE(range.begin, range.end);
      EXPECT_THAT(std::string(read.strings.view(range.name)), HasSubstr("stacks_job.py:"));
    }
  EXPECT_GT(looks, 0);
}

TEST_F(Stacks, AreLookedAtInTheStepsThatAreRecordedAlone) {
  std::vector<std::string> environment = kEnvironment;
  environment.push_back("LOCKSTEP_STEPS=20:39");
  const Outcome recorded = record("sleep", environment);
  ASSERT_EQ(recorded.exit_code, 0) << recorded.standard_error;
  for (const analyzer::RankTrace& rank : job("sleep").ranks) {
    ASSERT_EQ(rank.steps.size(), 20U);
    // A look before the first or behind the last of them stands for less time than one of rank 1's steps.
    std::int64_t looks = 0;
    for (const analyzer::HostRange& range : rank.host_ranges) {
      if (range.kind != analyzer::HostKind::python_place) continue;
      ++looks;
      EXPECT_GT(range.begin, rank.steps.front().begin - kHeldUp);
      EXPECT_LT(range.end, rank.steps.back().end + kHeldUp);
    }
    EXPECT_GT(looks, 0);
  }
}

TEST_F(Stacks, AreOffWhereNoneAreWanted) {
  const Outcome recorded =
      record("even", {"OMP_NUM_THREADS=1", "LOCKSTEP_DEBUG=1", "PYTHONWARNINGS=ignore", "LOCKSTEP_STACKS=0"});
  EXPECT_EQ(recorded.exit_code, 0) << recorded.standard_error;
  for (const analyzer::RankTrace& rank : job("even").ranks)
    EXPECT_FALSE(std::any_of(
        rank.host_ranges.begin(), rank.host_ranges.end(),
        [](const analyzer::HostRange& range) { return range.kind == analyzer::HostKind::python_place; }));
}

TEST(StackWalk, ReadsOneMomentsStackWhateverTheThreadDoes) {
  const Outcome stress =
      run({LOCKSTEP_PYTHON, "-X", "faulthandler", LOCKSTEP_SOURCE_DIR "/tests/pytorch/stack_walk_stress.py",
           LOCKSTEP_BIN_DIR "/../lib/liblockstep-inject.so", "3"});
  EXPECT_EQ(stress.exit_code, 0) << stress.standard_output << stress.standard_error;
  EXPECT_THAT(stress.standard_output, HasSubstr(", 0 wrong"));
}

TEST_F(Stacks, ANumberOfLooksThatIsNoneIsRefused) {
  const Outcome refused = record("even", {"LOCKSTEP_STACKS=a few"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.standard_error, HasSubstr("LOCKSTEP_STACKS=a few: give a number of looks"));
}

}  // namespace
}  // namespace lockstep::end_to_end

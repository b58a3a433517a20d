// kill -9, _exit and abort at random moments: what is left can be read and has no hole, the job's exit code
// is its own, and what is missing is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include "tests/end_to_end/recorded_run.h"
#include "tests/torture/numbered_job.h"
#include "tests/torture/trials.h"
#include "trace/reader.h"
#include "trace/writer.h"

namespace lockstep::torture {
namespace {

using testing::HasSubstr;

constexpr int kFew = 3;

void wait_for_a_moment(std::mt19937_64& random) {
  std::this_thread::sleep_for(std::chrono::milliseconds(between(random, 0, 1200)));
}

// As in a build with a sanitizer.
bool has_no_survivors(const end_to_end::Outcome& outcome) {
  return outcome.standard_error.find("--survive-kill could not be had") != std::string::npos;
}

bool says_that_a_file_was_not_closed(const std::string& error_output) {
  return error_output.find("not closed") != std::string::npos ||
         error_output.find("was killed") != std::string::npos;
}

TEST(Kills, OfARankLoseNothingButItsLastMoment) {
  std::vector<std::int64_t> lost;
  for (int trial = 0; trial < trials(kFew); ++trial) {
    SCOPED_TRACE(trial);
    std::mt19937_64 random = random_of("kills of a rank", trial);
    NumberedJob job;
    ASSERT_TRUE(job.await_first());
    wait_for_a_moment(random);
    job.kill(1);
    job.progress(0).ending.store(Ending::leave);
    const end_to_end::Outcome outcome = job.finish();
    EXPECT_EQ(outcome.exit_code, 128 + SIGKILL) << outcome.standard_error;
    EXPECT_EQ(outcome.standard_output, "out\n");
    const Remains other = job.remains(job.run_path(), 0);
    EXPECT_TRUE(other.complete);
    EXPECT_EQ(other.lost, 0);
    const Remains killed = job.remains(job.run_path(), 1);
    EXPECT_FALSE(killed.complete);
    EXPECT_TRUE(says_that_a_file_was_not_closed(outcome.standard_error)) << outcome.standard_error;
    lost.push_back(killed.lost_ns);
  }
  report("kills of a rank", trials(kFew), "lost of it: " + median_and_most(lost));
}

TEST(Kills, OfTheRecorderAndARankLeaveBothFiles) {
  std::vector<std::int64_t> lost;
  for (int trial = 0; trial < trials(kFew); ++trial) {
    SCOPED_TRACE(trial);
    std::mt19937_64 random = random_of("kills of the recorder", trial);
    NumberedJob job;
    ASSERT_TRUE(job.await_first());
    wait_for_a_moment(random);
    job.kill_recorder();
    job.kill(1);
    const end_to_end::Outcome outcome = job.finish();
    EXPECT_EQ(outcome.signal, SIGKILL);
    // The other rank goes on without a recorder, and closes its file.
    job.progress(0).ending.store(Ending::leave);
    const std::string path = job.run_path() + "/rank-0.lst";
    EXPECT_TRUE(end_to_end::eventually([&] {
      const Result<trace::Reader> reader = trace::Reader::open(path);
      return reader.ok() && reader.value().complete();
    }));
    EXPECT_EQ(job.remains(job.run_path(), 0).lost, 0);
    lost.push_back(job.remains(job.run_path(), 1).lost_ns);
    const end_to_end::Outcome analysis =
        end_to_end::run({end_to_end::binary("lockstep"), "analyze", job.run_path(), "--json", "-"});
    EXPECT_EQ(analysis.exit_code, 0) << analysis.standard_error;
  }
  report("kills of the recorder and a rank", trials(kFew), "lost of the rank: " + median_and_most(lost));
}

TEST(Kills, ARankThatLeavesAtOnceOrAbortsIsRecordedAsFar) {
  std::vector<std::int64_t> lost;
  for (int trial = 0; trial < trials(kFew); ++trial) {
    SCOPED_TRACE(trial);
    std::mt19937_64 random = random_of("leaving at once", trial);
    NumberedJob job;
    ASSERT_TRUE(job.await_first());
    wait_for_a_moment(random);
    const bool aborts = random() % 2 == 0;
    job.progress(1).ending.store(aborts ? Ending::abort : Ending::exit_at_once);
    job.progress(0).ending.store(Ending::leave);
    const end_to_end::Outcome outcome = job.finish();
    EXPECT_EQ(outcome.exit_code, aborts ? 128 + SIGABRT : 7) << outcome.standard_error;
    EXPECT_EQ(job.remains(job.run_path(), 0).lost, 0);
    lost.push_back(job.remains(job.run_path(), 1).lost_ns);
  }
  report("_exit and abort", trials(kFew), "lost of the rank: " + median_and_most(lost));
}

// With a survivor: each way to end that gives the process no time to write.
class Survivors : public testing::TestWithParam<Ending> {};

TEST_P(Survivors, LoseNothing) {
  const Ending ending = GetParam();
  int busy = 0;
  for (int trial = 0; trial < trials(kFew); ++trial) {
    SCOPED_TRACE(trial);
    std::mt19937_64 random = random_of("survivors", trial);
    NumberedJob job({"--survive-kill"});
    ASSERT_TRUE(job.await_first());
    wait_for_a_moment(random);
    if (ending == Ending::none) {
      job.kill(1);
    } else {
      job.progress(1).ending.store(ending);
    }
    job.progress(0).ending.store(Ending::leave);
    const end_to_end::Outcome outcome = job.finish();
    if (has_no_survivors(outcome)) GTEST_SKIP() << "a build with a sanitizer has no survivors";
    EXPECT_EQ(outcome.exit_code, ending == Ending::none    ? 128 + SIGKILL
                                 : ending == Ending::abort ? 128 + SIGABRT
                                                           : 7)
        << outcome.standard_error;
    EXPECT_EQ(outcome.standard_output, "out\n");
    EXPECT_EQ(job.remains(job.run_path(), 0).lost, 0);
    const Remains killed = job.remains(job.run_path(), 1);
    EXPECT_FALSE(killed.complete);
    if (killed.after_death) {
      EXPECT_EQ(killed.lost, 0);
      EXPECT_THAT(outcome.standard_error, HasSubstr("(--survive-kill)"));
    } else {
      // Its writer thread had work in hand: as without a survivor.
      ++busy;
      EXPECT_THAT(outcome.standard_error, HasSubstr("still runs"));
    }
  }
  EXPECT_LT(busy, trials(kFew));
  report("survivors", trials(kFew), std::to_string(busy) + " ended while the writer thread was at work");
}

INSTANTIATE_TEST_SUITE_P(Of, Survivors,
                         testing::Values(Ending::none, Ending::exit_at_once, Ending::abort, Ending::execute),
                         [](const auto& info) {
                           switch (info.param) {
                             case Ending::exit_at_once:
                               return "Exit";
                             case Ending::abort:
                               return "Abort";
                             case Ending::execute:
                               return "Exec";
                             default:
                               return "Kill";
                           }
                         });

// Where the disk is slow, the recording thread is in write() when its process is killed.
TEST(Kills, InTheMiddleOfAWriteASurvivorGoesOnWithIt) {
  for (int trial = 0; trial < trials(kFew); ++trial) {
    SCOPED_TRACE(trial);
    std::mt19937_64 random = random_of("kills in a write", trial);
    NumberedJob job({"--survive-kill"});
    ASSERT_TRUE(job.await_first());
    wait_for_a_moment(random);
    Progress& progress = job.progress(1);
    progress.slow_disk.store(1);
    ASSERT_TRUE(end_to_end::eventually([&] { return progress.half_written.load() != 0; }));
    job.kill(1);
    job.progress(0).ending.store(Ending::leave);
    const end_to_end::Outcome outcome = job.finish();
    if (has_no_survivors(outcome)) GTEST_SKIP() << "a build with a sanitizer has no survivors";
    const Remains killed = job.remains(job.run_path(), 1);
    EXPECT_TRUE(killed.after_death);
    EXPECT_EQ(killed.lost, 0);
  }
}

// In ring mode nothing is in the file until somebody writes what is held.
TEST(Kills, WithASurvivorARingIsWritten) {
  NumberedJob job({"--survive-kill", "--ring", "60s"});
  ASSERT_TRUE(job.await_first());
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  job.kill(1);
  job.progress(0).ending.store(Ending::leave);
  const end_to_end::Outcome outcome = job.finish();
  if (has_no_survivors(outcome)) GTEST_SKIP() << "a build with a sanitizer has no survivors";
  const Remains killed = job.remains(job.run_path(), 1);
  if (!killed.after_death) GTEST_SKIP() << "killed while its writer thread was at work";
  EXPECT_EQ(killed.lost, 0);
  EXPECT_THAT(outcome.standard_error, HasSubstr("the process was killed, crashed"));
}

TEST(Kills, WithASurvivorTheRecordersDeathCostsNothingEither) {
  for (int trial = 0; trial < trials(kFew); ++trial) {
    SCOPED_TRACE(trial);
    std::mt19937_64 random = random_of("survivors of the recorder", trial);
    NumberedJob job({"--survive-kill"});
    ASSERT_TRUE(job.await_first());
    wait_for_a_moment(random);
    job.kill_recorder();
    job.kill(1);
    EXPECT_EQ(job.finish().signal, SIGKILL);
    job.progress(0).ending.store(Ending::leave);
    const std::string other = job.run_path() + "/rank-0.lst";
    EXPECT_TRUE(end_to_end::eventually([&] {
      const Result<trace::Reader> reader = trace::Reader::open(other);
      return reader.ok() && reader.value().complete();
    }));
    const std::string path = job.run_path() + "/rank-1.lst";
    if (trace::Reader::open(path).value().metadata().contains("no_survivor"))
      GTEST_SKIP() << "a build with a sanitizer has no survivors";
    // Nobody waits for the survivor but this test; it has nothing to do where the writer thread was at work.
    (void)end_to_end::eventually(
        [&] { return trace::Reader::open(path).value().metadata().contains(trace::kWrittenAfterDeath); });
    const Remains killed = job.remains(job.run_path(), 1);
    if (killed.after_death) {
      EXPECT_EQ(killed.lost, 0);
    }
  }
}

// As when the machine is lost, or somebody copies the run while it is recorded.
TEST(Kills, CopiesTakenAtAnyMomentCanBeRead) {
  std::vector<std::int64_t> behind;
  for (int trial = 0; trial < trials(kFew); ++trial) {
    SCOPED_TRACE(trial);
    std::mt19937_64 random = random_of("copies", trial);
    NumberedJob job;
    ASSERT_TRUE(job.await_first());
    wait_for_a_moment(random);
    const std::string copy = job.folder("copy");
    std::filesystem::create_directories(copy);
    // A file after the other, as cp and rsync do; the job goes on meanwhile.
    for (const auto& entry : std::filesystem::directory_iterator(job.run_path())) {
      std::error_code ignored;
      if (entry.is_regular_file())
        std::filesystem::copy_file(entry.path(), copy / entry.path().filename(), ignored);
    }
    for (int rank = 0; rank < NumberedJob::kRanks; ++rank) {
      // Its process may just have begun.
      std::error_code absent;
      const auto size = std::filesystem::file_size(copy + "/rank-" + std::to_string(rank) + ".lst", absent);
      if (absent || size == 0) continue;
      const Remains copied = job.remains(copy, rank);
      EXPECT_FALSE(copied.complete);
      behind.push_back(copied.lost_ns);
    }
    for (int rank = 0; rank < NumberedJob::kRanks; ++rank) job.progress(rank).ending.store(Ending::leave);
    const end_to_end::Outcome outcome = job.finish();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
    for (int rank = 0; rank < NumberedJob::kRanks; ++rank)
      EXPECT_EQ(job.remains(job.run_path(), rank).lost, 0);
  }
  report("copies of a run being recorded", trials(kFew), "behind: " + median_and_most(behind));
}

}  // namespace
}  // namespace lockstep::torture

// kill -9, _exit, abort and a crash at random moments: what is left can be read and has no hole, at most a
// second is missing, the job's exit code is its own, and what is missing is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <filesystem>
#include <string>

#include "tests/end_to_end/recorded_run.h"
#include "tests/torture/numbered_job.h"
#include "tests/torture/trials.h"

namespace lockstep::torture {
namespace {

using testing::HasSubstr;

constexpr int kFew = 3;

bool says_that_a_file_was_not_closed(const std::string& error_output) {
  return error_output.find("not closed") != std::string::npos ||
         error_output.find("was killed") != std::string::npos;
}

TEST(Kills, OfARankLoseNothingButItsLastMoment) {
  Losses losses;
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
    losses.add(killed);
  }
  report("kills of a rank", trials(kFew), "lost of it: " + losses.in_words());
}

TEST(Kills, OfAllRanksAtOnceLeaveTheirFilesToTheRecorder) {
  Losses losses;
  for (int trial = 0; trial < trials(kFew); ++trial) {
    SCOPED_TRACE(trial);
    std::mt19937_64 random = random_of("kills of all ranks", trial);
    NumberedJob job;
    ASSERT_TRUE(job.await_first());
    wait_for_a_moment(random);
    job.kill_all();
    const end_to_end::Outcome outcome = job.finish();
    EXPECT_EQ(outcome.exit_code, 128 + SIGKILL)
        << "signal " << outcome.signal << ": " << outcome.standard_error;
    EXPECT_EQ(outcome.standard_output, "out\n");
    EXPECT_THAT(outcome.standard_error, HasSubstr("2 files were not closed"));
    for (int rank = 0; rank < NumberedJob::kRanks; ++rank) {
      SCOPED_TRACE(rank);
      const Remains killed = job.remains(job.run_path(), rank);
      EXPECT_FALSE(killed.complete);
      losses.add(killed);
    }
  }
  report("kills of all ranks at once", trials(kFew), "lost of each: " + losses.in_words());
}

TEST(Kills, OfTheRecorderAndARankLeaveBothFiles) {
  Losses losses;
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
    EXPECT_TRUE(job.await_closed(0));
    EXPECT_EQ(job.remains(job.run_path(), 0).lost, 0);
    losses.add(job.remains(job.run_path(), 1));
    const end_to_end::Outcome analysis =
        end_to_end::run({end_to_end::binary("lockstep"), "analyze", job.run_path(), "--json", "-"});
    EXPECT_EQ(analysis.exit_code, 0) << analysis.standard_error;
  }
  report("kills of the recorder and a rank", trials(kFew), "lost of the rank: " + losses.in_words());
}

TEST(Kills, ARankThatLeavesAtOnceAbortsOrCrashesIsRecordedAsFar) {
  struct Way {
    Ending ending;
    int exit_code;
  };
  constexpr std::array kWays{Way{Ending::exit_at_once, 7}, Way{Ending::abort, 128 + SIGABRT},
                             Way{Ending::crash, 128 + SIGSEGV}};
  Losses losses;
  for (int trial = 0; trial < trials(kFew); ++trial) {
    SCOPED_TRACE(trial);
    std::mt19937_64 random = random_of("leaving at once", trial);
    NumberedJob job;
    ASSERT_TRUE(job.await_first());
    wait_for_a_moment(random);
    const Way& way = kWays[static_cast<std::size_t>(trial) % kWays.size()];
    job.progress(1).ending.store(way.ending);
    job.progress(0).ending.store(Ending::leave);
    const end_to_end::Outcome outcome = job.finish();
    EXPECT_EQ(outcome.exit_code, way.exit_code) << outcome.standard_error;
    EXPECT_EQ(outcome.standard_output, "out\n");
    EXPECT_TRUE(says_that_a_file_was_not_closed(outcome.standard_error)) << outcome.standard_error;
    EXPECT_EQ(job.remains(job.run_path(), 0).lost, 0);
    const Remains left = job.remains(job.run_path(), 1);
    EXPECT_FALSE(left.complete);
    losses.add(left);
  }
  report("_exit, abort and crashes", trials(kFew), "lost of the rank: " + losses.in_words());
}

// As somebody takes them while the run is recorded.
TEST(Kills, CopiesTakenAtAnyMomentCanBeRead) {
  Losses losses;
  for (int trial = 0; trial < trials(kFew); ++trial) {
    SCOPED_TRACE(trial);
    std::mt19937_64 random = random_of("copies", trial);
    NumberedJob job;
    ASSERT_TRUE(job.await_first());
    wait_for_a_moment(random);
    const std::filesystem::path copy = job.folder("copy");
    std::filesystem::create_directories(copy);
    // What returns while it is copied may be there or not.
    std::array<Returned, NumberedJob::kRanks> returned;
    for (int rank = 0; rank < NumberedJob::kRanks; ++rank)
      returned[static_cast<std::size_t>(rank)] = job.returned(rank);
    // A file after the other, as cp and rsync do; the job goes on meanwhile.
    for (const auto& entry : std::filesystem::directory_iterator(job.run_path())) {
      std::error_code ignored;
      if (entry.is_regular_file())
        std::filesystem::copy_file(entry.path(), copy / entry.path().filename(), ignored);
    }
    for (int rank = 0; rank < NumberedJob::kRanks; ++rank) {
      SCOPED_TRACE(rank);
      const Remains copied = job.remains(copy.string(), rank, returned[static_cast<std::size_t>(rank)]);
      EXPECT_FALSE(copied.complete);
      losses.add(copied);
    }
    for (int rank = 0; rank < NumberedJob::kRanks; ++rank) job.progress(rank).ending.store(Ending::leave);
    const end_to_end::Outcome outcome = job.finish();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
    for (int rank = 0; rank < NumberedJob::kRanks; ++rank)
      EXPECT_EQ(job.remains(job.run_path(), rank).lost, 0);
  }
  report("copies of a run being recorded", trials(kFew), "behind: " + losses.in_words());
}

}  // namespace
}  // namespace lockstep::torture

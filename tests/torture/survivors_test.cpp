// The same with `--survive-kill`: nothing is missing of what calls had returned from, but where the writing
// thread was at work at that moment, which is rare; then as much as without a survivor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "tests/end_to_end/recorded_run.h"
#include "tests/sanitizers.h"
#include "tests/torture/numbered_job.h"
#include "tests/torture/trials.h"
#include "trace/reader.h"
#include "trace/writer.h"

namespace lockstep::torture {
namespace {

using testing::HasSubstr;

constexpr int kFew = 3;

constexpr const char* kNone = "a build with a sanitizer has no survivors";

// As on a machine that has no time to begin one: the summary says so, and the trial counts as one that ended
// while the writing thread was at work.
bool has_no_survivors(const end_to_end::Outcome& outcome) {
  return outcome.standard_error.find("--survive-kill could not be had") != std::string::npos;
}

// The writing thread works for some milliseconds a second. Of a few trials, that not all hit it is all that
// can be said.
void expect_few_busy(int busy) {
  const int count = trials(kFew);
  EXPECT_LE(busy, count < 20 ? count - 1 : std::max(1, count / 20));
}

std::string busy_in_words(int busy, const Losses& losses) {
  return std::to_string(busy) + " ended while the writing thread was at work" +
         (busy == 0 ? "" : ", and lost: " + losses.in_words());
}

// Of a killed process nothing is lost, or it was busy.
void count(const Remains& killed, Losses& losses, int& busy) {
  if (killed.after_death) {
    EXPECT_EQ(killed.lost, 0);
  } else {
    ++busy;
    losses.add(killed);
  }
}

// With a survivor: each way to end that gives the process no time to write.
class Survivors : public testing::TestWithParam<Ending> {};

TEST_P(Survivors, LoseNothing) {
  if (kSanitized) GTEST_SKIP() << kNone;
  const Ending ending = GetParam();
  Losses losses;
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
    if (has_no_survivors(outcome)) {
      ++busy;
      continue;
    }
    EXPECT_EQ(outcome.exit_code, ending == Ending::none    ? 128 + SIGKILL
                                 : ending == Ending::abort ? 128 + SIGABRT
                                 : ending == Ending::crash ? 128 + SIGSEGV
                                                           : 7)
        << outcome.standard_error;
    EXPECT_EQ(outcome.standard_output, "out\n");
    EXPECT_EQ(job.remains(job.run_path(), 0).lost, 0);
    const Remains killed = job.remains(job.run_path(), 1);
    EXPECT_FALSE(killed.complete);
    count(killed, losses, busy);
    EXPECT_THAT(outcome.standard_error, HasSubstr(killed.after_death ? "(--survive-kill)" : "still runs"));
  }
  expect_few_busy(busy);
  report("survivors", trials(kFew), busy_in_words(busy, losses));
}

INSTANTIATE_TEST_SUITE_P(Of, Survivors,
                         testing::Values(Ending::none, Ending::exit_at_once, Ending::abort, Ending::crash,
                                         Ending::execute),
                         [](const auto& info) {
                           switch (info.param) {
                             case Ending::exit_at_once:
                               return "Exit";
                             case Ending::abort:
                               return "Abort";
                             case Ending::crash:
                               return "Crash";
                             case Ending::execute:
                               return "Exec";
                             default:
                               return "Kill";
                           }
                         });

// A data loader's worker has a survivor of its own; that of its parent, which goes on, is not in its way.
TEST(Kills, OfAForkedWorkerLoseNothingWithASurvivor) {
  if (kSanitized) GTEST_SKIP() << kNone;
  Losses losses;
  int busy = 0;
  for (int trial = 0; trial < trials(kFew); ++trial) {
    SCOPED_TRACE(trial);
    std::mt19937_64 random = random_of("killed workers", trial);
    NumberedJob job({"--survive-kill"}, NumberedJob::Second::worker);
    ASSERT_TRUE(job.await_first());
    wait_for_a_moment(random);
    job.kill(1);
    job.progress(0).ending.store(Ending::leave);
    const end_to_end::Outcome outcome = job.finish();
    if (has_no_survivors(outcome)) {
      ++busy;
      continue;
    }
    EXPECT_EQ(outcome.exit_code, 128 + SIGKILL) << outcome.standard_error;
    const Result<trace::Reader> parent = trace::Reader::open(job.run_path() + "/rank-1.lst");
    ASSERT_TRUE(parent.ok()) << parent.error().message;
    EXPECT_TRUE(parent.value().complete());
    EXPECT_EQ(parent.value().count(trace::EventKind::mark), 1U);
    const Remains killed = job.remains(job.run_path(), 1);
    count(killed, losses, busy);
  }
  expect_few_busy(busy);
  report("killed workers with a survivor", trials(kFew), busy_in_words(busy, losses));
}

// Where the disk is slow, the recording thread is in write() when its process is killed.
TEST(Kills, InTheMiddleOfAWriteASurvivorGoesOnWithIt) {
  if (kSanitized) GTEST_SKIP() << kNone;
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
    if (has_no_survivors(outcome)) continue;
    const Remains killed = job.remains(job.run_path(), 1);
    EXPECT_TRUE(killed.after_death);
    EXPECT_EQ(killed.lost, 0);
  }
  report("kills in the middle of a write", trials(kFew));
}

// In ring mode nothing is in the file until somebody writes what is held.
TEST(Kills, WithASurvivorARingIsWritten) {
  if (kSanitized) GTEST_SKIP() << kNone;
  // Who is at work when it is killed has no survivor's help; three times in a row it is not.
  bool written = false;
  for (int attempt = 0; attempt < 3 && !written; ++attempt) {
    NumberedJob job({"--survive-kill", "--ring", "60s"});
    ASSERT_TRUE(job.await_first());
    std::this_thread::sleep_for(std::chrono::milliseconds(700 + 37 * attempt));
    job.kill(1);
    job.progress(0).ending.store(Ending::leave);
    const end_to_end::Outcome outcome = job.finish();
    if (has_no_survivors(outcome)) continue;
    const Remains killed = job.remains(job.run_path(), 1);
    written = killed.after_death;
    if (!written) continue;
    EXPECT_EQ(killed.lost, 0);
    EXPECT_THAT(outcome.standard_error, HasSubstr("the process was killed, crashed"));
  }
  EXPECT_TRUE(written);
}

TEST(Kills, WithASurvivorTheRecordersDeathCostsNothingEither) {
  if (kSanitized) GTEST_SKIP() << kNone;
  Losses losses;
  int busy = 0;
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
    EXPECT_TRUE(job.await_closed(0));
    EXPECT_EQ(job.remains(job.run_path(), 0).lost, 0);
    const std::string path = job.run_path() + "/rank-1.lst";
    const auto says = [&](const char* key) {
      const Result<trace::Reader> reader = trace::Reader::open(path);
      return reader.ok() && reader.value().metadata().contains(key);
    };
    if (says("no_survivor")) {
      ++busy;
      continue;
    }
    // Nobody waits for the survivor but this test; it has nothing to do where the writer thread was at work.
    (void)end_to_end::eventually([&] { return says(trace::kWrittenAfterDeath); });
    const Remains killed = job.remains(job.run_path(), 1);
    EXPECT_FALSE(killed.complete);
    count(killed, losses, busy);
  }
  expect_few_busy(busy);
  report("survivors of the recorder's death", trials(kFew), busy_in_words(busy, losses));
}

TEST(Kills, WithSurvivorsAllRanksAtOnceLoseNothing) {
  if (kSanitized) GTEST_SKIP() << kNone;
  Losses losses;
  int busy = 0;
  for (int trial = 0; trial < trials(kFew); ++trial) {
    SCOPED_TRACE(trial);
    std::mt19937_64 random = random_of("survivors of all ranks", trial);
    NumberedJob job({"--survive-kill"});
    ASSERT_TRUE(job.await_first());
    wait_for_a_moment(random);
    job.kill_all();
    const end_to_end::Outcome outcome = job.finish();
    if (has_no_survivors(outcome)) {
      ++busy;
      continue;
    }
    EXPECT_EQ(outcome.exit_code, 128 + SIGKILL)
        << "signal " << outcome.signal << ": " << outcome.standard_error;
    EXPECT_EQ(outcome.standard_output, "out\n");
    int written = 0;
    for (int rank = 0; rank < NumberedJob::kRanks; ++rank) {
      SCOPED_TRACE(rank);
      const Remains killed = job.remains(job.run_path(), rank);
      EXPECT_FALSE(killed.complete);
      if (killed.after_death) {
        ++written;
        EXPECT_EQ(killed.lost, 0);
      } else {
        losses.add(killed);
      }
    }
    if (written == NumberedJob::kRanks) {
      EXPECT_THAT(outcome.standard_error, HasSubstr("2 files were not closed"));
    } else {
      ++busy;
      EXPECT_THAT(outcome.standard_error, HasSubstr("still runs"));
    }
    if (written > 0) {
      EXPECT_THAT(outcome.standard_error, HasSubstr("(--survive-kill)"));
    }
  }
  expect_few_busy(busy);
  report("survivors of all ranks at once", trials(kFew), busy_in_words(busy, losses));
}

// As by `pkill -9 -f`, or where a container ends: then its last moment is lost, and the summary says so.
TEST(Kills, ASurvivorThatIsKilledTooIsMissed) {
  if (kSanitized) GTEST_SKIP() << kNone;
  NumberedJob job({"--survive-kill"});
  ASSERT_TRUE(job.await_first());
  const bool had_survivor = job.kill_with_survivor(1);
  job.progress(0).ending.store(Ending::leave);
  const end_to_end::Outcome outcome = job.finish();
  if (!had_survivor && has_no_survivors(outcome)) GTEST_SKIP() << "the machine had no time to begin one";
  ASSERT_TRUE(had_survivor);
  EXPECT_EQ(outcome.exit_code, 128 + SIGKILL);
  EXPECT_FALSE(job.remains(job.run_path(), 1).after_death);
  EXPECT_THAT(outcome.standard_error,
              HasSubstr("1 file was not closed, and --survive-kill wrote no last moment"));
}

// While the rank goes on: what it does last would be lost if it were killed, and that is said when it is
// known.
TEST(Kills, ASurvivorThatIsKilledAloneIsSaid) {
  if (kSanitized) GTEST_SKIP() << kNone;
  NumberedJob job({"--survive-kill"});
  ASSERT_TRUE(job.await_first());
  const bool had_survivor = job.kill_survivor(1);
  const std::string path = job.run_path() + "/rank-1.lst";
  const bool said = had_survivor && end_to_end::eventually([&] {
                      const Result<trace::Reader> reader = trace::Reader::open(path);
                      return reader.ok() && reader.value().metadata().contains("survivor_ended");
                    });
  job.kill(1);
  job.progress(0).ending.store(Ending::leave);
  const end_to_end::Outcome outcome = job.finish();
  if (!had_survivor && has_no_survivors(outcome)) GTEST_SKIP() << "the machine had no time to begin one";
  ASSERT_TRUE(had_survivor);
  EXPECT_TRUE(said);
  EXPECT_FALSE(job.remains(job.run_path(), 1).after_death);
  EXPECT_THAT(outcome.standard_error, HasSubstr("--survive-kill ended in 1 process before the process did"));
}

}  // namespace
}  // namespace lockstep::torture

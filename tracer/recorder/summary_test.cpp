// What is said when the job is over, from manifests made by hand.
#include "tracer/recorder/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace lockstep::tracer::record {
namespace {

using testing::_;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::int64_t kSecond = 1'000'000'000;

Manifest two_ranks(std::uint64_t events) {
  Manifest manifest;
  manifest.asked.emplace();
  manifest.end_realtime = 14'200'000'000;
  Recording recording;
  recording.events = events;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    RecordedFile file;
    file.rank = rank;
    file.file = "rank-" + std::to_string(rank) + ".lst";
    file.complete = true;
    recording.ranks.push_back(file);
  }
  manifest.recording = recording;
  return manifest;
}

TEST(Summary, AWindowInWhichNothingHappenedSaysWhatThereWas) {
  Manifest manifest = two_ranks(0);
  manifest.asked->plan.steps = control::StepRange{100, 110};
  manifest.recording->ranks[0].steps_seen = control::StepRange{0, 4};
  manifest.recording->ranks[1].steps_seen = control::StepRange{0, 5};
  EXPECT_THAT(summarize(manifest, "run"),
              ElementsAre("run: 2 ranks, but nothing happened in --steps 100:110, which was asked for",
                          "the job had steps 0 to 5: record some of them, as in --steps 2:5"));
  for (RecordedFile& file : manifest.recording->ranks) file.steps_seen.reset();
  EXPECT_THAT(summarize(manifest, "run"), Contains(HasSubstr("no step was seen at all")));
  EXPECT_THAT(summarize(manifest, "run"), Each(Not(HasSubstr("next: "))));
}

TEST(Summary, AFileThatCannotBeReadIsNoneInWhichNothingHappened) {
  Manifest manifest = two_ranks(0);
  manifest.asked->plan.steps = control::StepRange{100, 110};
  RecordedFile& file = manifest.recording->ranks[1];
  file.complete = false;
  file.unreadable = true;
  file.problem = "'run/rank-1.lst': not enough memory to open it";
  const std::vector<std::string> lines = summarize(manifest, "run");
  EXPECT_THAT(lines, ElementsAre(HasSubstr("2 ranks, 0 events in the files that could be read, "),
                                 file.problem, HasSubstr("next: ")))
      << "neither does it say that nobody closed it";
}

TEST(Summary, ATimeInWhichNothingHappenedSaysFromWhenItCounts) {
  Manifest manifest = two_ranks(0);
  manifest.asked->plan.delay_ns = 10 * kSecond;
  manifest.asked->plan.duration_ns = kSecond / 2;
  const std::vector<std::string> lines = summarize(manifest, "run");
  EXPECT_THAT(lines.front(),
              HasSubstr("nothing happened in --delay 10s --duration 0.5s, which was asked for"));
  EXPECT_THAT(lines.back(), HasSubstr("launcher and imports included; it ran for 14.2 s. --steps is what"));
}

TEST(Summary, StrayEventsDoNotHideThatNoStepWasCaught) {
  Manifest manifest = two_ranks(2);
  manifest.recording->bytes = 4100;
  manifest.asked->plan.duration_ns = 2 * kSecond;
  for (RecordedFile& file : manifest.recording->ranks) file.steps_seen = control::StepRange{1, 60};
  const std::vector<std::string> lines = summarize(manifest, "run");
  EXPECT_THAT(lines, ElementsAre("run: 2 ranks, 2 events, 4.1 kB, in 14.2 s, but no whole step and no "
                                 "collective lies in --duration 2s, which was asked for",
                                 "the job had steps 1 to 60: record some of them, as in --steps 30:60",
                                 HasSubstr("--duration count from the start of the command")));
  // Kernels can be looked at without a step.
  manifest.recording->ranks[1].device_activities = 1;
  EXPECT_THAT(summarize(manifest, "run").back(), "next: lockstep analyze run");
  EXPECT_THAT(summarize(manifest, "run").front(), HasSubstr("no whole step"));
  manifest.recording->ranks[1].steps_and_collectives = 1;
  EXPECT_THAT(summarize(manifest, "run"), Each(Not(HasSubstr("no whole step"))));
}

TEST(Summary, AJobWithoutStepsMissesNone) {
  Manifest manifest = two_ranks(2);
  manifest.asked->plan.delay_ns = kSecond;
  EXPECT_THAT(summarize(manifest, "run"),
              ElementsAre(HasSubstr("run: 2 ranks, 2 events"), "next: lockstep analyze run"));
}

TEST(Summary, AnEmptyRunWithoutAWindowIsAnalyzed) {
  EXPECT_THAT(summarize(two_ranks(0), "run"),
              ElementsAre(HasSubstr("run: 2 ranks, 0 events"), "next: lockstep analyze run"));
}

TEST(Summary, TheNextCommandIsOfWhatCanBeAnalyzedAndCanBePasted) {
  Manifest manifest = two_ranks(9);
  EXPECT_EQ(summarize(manifest, "my run's").back(), R"(next: lockstep analyze 'my run'\''s')");
  manifest.recording->processes = std::exchange(manifest.recording->ranks, {});
  manifest.recording->processes[0].file = "proc-a-1.lst";
  EXPECT_EQ(summarize(manifest, "my run").back(), "next: lockstep analyze 'my run/proc-a-1.lst'");
  manifest.recording->processes.resize(1);
  EXPECT_EQ(summarize(manifest, "run").back(), "next: lockstep analyze run");
}

TEST(Summary, SaysWhyTheRingWasWritten) {
  Manifest manifest = two_ranks(10);
  manifest.recording->ranks[0].saved = {"step 20 took 9.8 times the median step", kSavedAtEnd};
  manifest.recording->ranks[1].saved = {kSavedAtEnd};
  const std::vector<std::string> lines = summarize(manifest, "run");
  EXPECT_THAT(lines, ElementsAre(HasSubstr("10 events"),
                                 "--ring was written: step 20 took 9.8 times the median step (rank 0)",
                                 "next: lockstep analyze run"));
  manifest.recording->ranks[1].saved.assign(7, "step 3 took 2.1 times the median step");
  EXPECT_THAT(summarize(manifest, "run"), Contains(HasSubstr("4 more times")));
}

TEST(Summary, SaysWhatAFullDiskCost) {
  Manifest manifest = two_ranks(10);
  RecordedFile& file = manifest.recording->ranks[0];
  file.complete = false;
  file.unwritten = {1234, 1'700'000'000'000'000'000, "No space left on device"};
  manifest.recording->dropped[kNotWritten] = 1234;
  const std::vector<std::string> lines = summarize(manifest, "run");
  EXPECT_THAT(lines, Contains("1,234 events were lost in rank-0.lst after 2023-11-14T22:13:20.000Z: No space "
                              "left on device"));
  EXPECT_THAT(lines, Each(Not(HasSubstr("not closed")))) << "that is why";
  EXPECT_THAT(lines, Each(Not(HasSubstr("lost: ")))) << "once";
}

TEST(Summary, SaysWhichFileHasItsLastMomentAndWhichHasNot) {
  Manifest manifest = two_ranks(10);
  for (RecordedFile& file : manifest.recording->ranks) file.complete = false;
  manifest.recording->ranks[0].after_death = true;
  EXPECT_THAT(summarize(manifest, "run"),
              Contains(HasSubstr("1 file was not closed: the process was killed or still runs")));
  manifest.asked->plan.survive_kill = true;
  EXPECT_THAT(
      summarize(manifest, "run"),
      ElementsAre(_, HasSubstr("1 file was not closed, and --survive-kill wrote no last moment there"),
                  HasSubstr("all that it had recorded is there (--survive-kill)"), HasSubstr("next: ")));
  manifest.recording->ranks[1].no_survivor = true;
  EXPECT_THAT(summarize(manifest, "run"),
              ElementsAre(_, HasSubstr("1 file was not closed: the process was killed or still runs"), _,
                          HasSubstr("--survive-kill could not be had in 1 process"), HasSubstr("next: ")));
  manifest.recording->ranks[0].unwritten = {1, 0, "No space left on device"};
  EXPECT_THAT(summarize(manifest, "run"), Each(Not(HasSubstr("all that it had recorded is there"))));
}

TEST(Summary, SaysWhereTheSurvivorEndedBeforeItsProcess) {
  Manifest manifest = two_ranks(10);
  manifest.asked->plan.survive_kill = true;
  const RecordedFile::SurvivorEnded killed{1'700'000'000'000'000'000, "it was killed or asked to end"};
  manifest.recording->ranks[0].survivor_ended = killed;
  const std::string what =
      "--survive-kill ended in 1 process before the process did, at "
      "2023-11-14T22:13:20.000Z: it was killed or asked to end. What is killed there "
      "after that loses up to its last second";
  EXPECT_THAT(summarize(manifest, "run"), ElementsAre(_, what, HasSubstr("next: ")));
  manifest.recording->ranks[0].complete = false;
  EXPECT_THAT(summarize(manifest, "run"),
              ElementsAre(_, HasSubstr("1 file was not closed: the process was killed or still runs"), what,
                          HasSubstr("next: ")))
      << "why there is no last moment is known";
  manifest.recording->ranks[1].survivor_ended = killed;
  EXPECT_THAT(summarize(manifest, "run"),
              Contains(HasSubstr("in 2 processes before the process did, the first at")));
}

TEST(Nothing, HasTheTrueReasonFirst) {
  Manifest manifest;
  manifest.recording.emplace();
  EXPECT_THAT(
      explain_nothing(manifest, {}),
      ElementsAre("nothing was recorded: no process of the command was seen to train with PyTorch, make "
                  "a process group, or use CUDA or NVTX",
                  HasSubstr("NVTX ranges of its own"), HasSubstr("lockstep doctor -- COMMAND")));
  manifest.asked.emplace();
  manifest.asked->python_hook = false;
  EXPECT_THAT(explain_nothing(manifest, {}).front(), HasSubstr("the reason may be: --python-hook off"));
  manifest.asked->sources = "cupti";
  EXPECT_THAT(explain_nothing(manifest, {}).front(), HasSubstr("the reason may be: --sources cupti"));
  EXPECT_THAT(explain_nothing(manifest, {"ssh starts the job elsewhere", "try this: that"}),
              ElementsAre("nothing was recorded; the reason may be: ssh starts the job elsewhere",
                          "try this: that", HasSubstr("--sources cupti"), HasSubstr("--python-hook off"),
                          HasSubstr("lockstep doctor")));
}

TEST(Nothing, ListedCountersLeaveOutNoProcessThatCanBeRecorded) {
  Manifest manifest;
  manifest.asked.emplace();
  for (const char* sources : {"cpu", "nvml", "cupti, cpu"}) {
    manifest.asked->sources = sources;
    EXPECT_THAT(
        explain_nothing(manifest, {}).front(),
        "nothing was recorded: no process of the command was seen to train with PyTorch, make a process group, or use "
        "CUDA or NVTX, and counters are recorded only of those that do");
  }
  manifest.asked->sources = "nvtx";
  EXPECT_THAT(explain_nothing(manifest, {}).front(), HasSubstr("--sources nvtx leaves out"));
  manifest.asked->cpu = true;
  EXPECT_THAT(explain_nothing(manifest, {}).front(),
              HasSubstr("no process of the command was seen to train"));
}

TEST(Nothing, ACommandThatFailedAtOnceIsTheFirstReason) {
  Manifest manifest;
  manifest.asked.emplace();
  manifest.ending = Ending{2, 0};
  EXPECT_THAT(explain_nothing(manifest, {}).front(),
              "nothing was recorded: the command failed with exit code 2 before it was seen to train, "
              "communicate, or use CUDA or NVTX");
  manifest.asked->plan.steps = control::StepRange{10, 12};
  EXPECT_THAT(
      explain_nothing(manifest, {}),
      ElementsAre("nothing was recorded; the reason may be: the command failed with exit code 2 before "
                  "it was seen to train, communicate, or use CUDA or NVTX",
                  "--steps 10:12 may have been over, or not begun", HasSubstr("lockstep doctor")));
  EXPECT_THAT(explain_nothing(manifest, {"ssh starts the job elsewhere"}).front(), HasSubstr("exit code 2"));
  // After an hour it is no longer likelier than what the command itself shows.
  manifest.end_realtime = 3600 * kSecond;
  EXPECT_THAT(explain_nothing(manifest, {"ssh starts the job elsewhere"}),
              ElementsAre(HasSubstr("ssh starts"), HasSubstr("exit code 2"), HasSubstr("--steps 10:12"),
                          HasSubstr("lockstep doctor")));
  manifest.ending = Ending{0, 0};
  EXPECT_THAT(explain_nothing(manifest, {}).front(), HasSubstr("the reason may be: --steps 10:12"));
}

TEST(Nothing, ASignalThatCameTooSoonIsTheReason) {
  Manifest manifest;
  manifest.asked.emplace();
  manifest.ending = Ending{0, SIGTERM};
  EXPECT_THAT(
      explain_nothing(manifest, {}).front(),
      "nothing was recorded: the command was ended by SIGTERM before it was seen to train, communicate, or use "
      "CUDA or NVTX");
}

TEST(Nothing, ACommandThatSomebodyInterruptedAtOnceIsToRunForLonger) {
  Manifest manifest;
  manifest.asked.emplace();
  manifest.ending = Ending{0, SIGTERM};
  manifest.ending->interruption = Interruption{SIGTERM, 0};
  EXPECT_THAT(
      explain_nothing(manifest, {}),
      ElementsAre("nothing was recorded: the command was interrupted by SIGTERM before it was seen to train, "
                  "communicate, or use CUDA or NVTX",
                  HasSubstr("let the command run until then")));
  manifest.end_realtime = 3600 * kSecond;
  EXPECT_THAT(explain_nothing(manifest, {}), Contains(HasSubstr("lockstep doctor")));
}

// A helper of the job may be such a program, and the true reason another.
TEST(Nothing, WhatWasOnlySeenIsOneReasonOfSeveral) {
  Manifest manifest;
  manifest.asked.emplace();
  manifest.ending = Ending{2, 0};
  Unrecorded seen;
  seen.reason = "its libc is musl, and Lockstep's library needs glibc";
  seen.processes = 1;
  seen.only_seen = true;
  seen.process_ids = {17};
  manifest.unrecorded = {seen};
  EXPECT_THAT(
      explain_nothing(manifest, {}),
      ElementsAre(HasSubstr("the reason may be: the command failed with exit code 2"),
                  HasSubstr("1 process was left alone: its libc is musl"), HasSubstr("lockstep doctor")));
  manifest.ending = Ending{0, 0};
  EXPECT_THAT(
      explain_nothing(manifest, {}).front(),
      HasSubstr("nothing was recorded; the reason may be: 1 process was left alone: its libc is musl"));
  seen.only_seen = false;
  seen.reason = "it is statically linked";
  manifest.unrecorded.push_back(seen);
  EXPECT_THAT(explain_nothing(manifest, {}), Contains(HasSubstr("left no file: it is statically linked")));
}

TEST(Nothing, NamesTheRanksThatAreMissing) {
  Manifest manifest;
  manifest.recording.emplace();
  manifest.recording->world_size = 2;
  manifest.recording->missing_ranks = {0, 1};
  EXPECT_THAT(explain_nothing(manifest, {}), Contains("of 2 ranks, these left no trace: 0, 1"));
}

TEST(Wrapped, BreaksBetweenWordsAndIndentsWhatFollows) {
  EXPECT_EQ(wrapped("", 10), "");
  EXPECT_EQ(wrapped("one two three", 20), "one two three");
  EXPECT_EQ(wrapped("one two three four", 9), "one two\n  three\n  four");
  EXPECT_EQ(wrapped("a-word-that-is-too-long b", 5), "a-word-that-is-too-long\n  b");
  EXPECT_EQ(wrapped("××× ×××", 7), "××× ×××") << "columns, not bytes";
}

}  // namespace
}  // namespace lockstep::tracer::record

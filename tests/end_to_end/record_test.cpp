// `lockstep record` around programs that end, split and misbehave in every way
// (programs/nvtx_behaviours.cpp): the job's own outcome is untouched, and what could be recorded can be read.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/end_to_end/recorded_run.h"

namespace lockstep {
namespace {

using end_to_end::behave;
using end_to_end::binary;
using end_to_end::Outcome;
using end_to_end::record;
using end_to_end::RecordedRun;
using end_to_end::shell;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using testing::UnorderedElementsAre;

const std::string kProgram = end_to_end::program("nvtx_behaviours");

// --- how jobs end ---

class RecordExitCode : public testing::TestWithParam<int> {};
TEST_P(RecordExitCode, IsTheJobs) {
  RecordedRun run;
  record(run, behave({"leave", std::to_string(GetParam())}));
  EXPECT_EQ(run.outcome.exit_code, GetParam());
  EXPECT_THAT(end_to_end::range_names(run.open()), ElementsAre("range 0", "range 1", "range 2"));
  EXPECT_TRUE(run.open().complete());
  EXPECT_EQ(run.manifest().at("state"), "finished");
  EXPECT_EQ(run.manifest().at("exit_code"), GetParam());
  EXPECT_EQ(run.manifest().at("events"), 3);
}
INSTANTIATE_TEST_SUITE_P(Codes, RecordExitCode, testing::Values(0, 1, 7, 126, 127, 255));

TEST(Record, JobWithoutNvtxIsLeftAloneAndSaysSo) {
  RecordedRun run;
  record(run, {"sh", "-c", "echo out; echo err >&2; exit 7"});
  EXPECT_EQ(run.outcome.exit_code, 7);
  EXPECT_EQ(run.outcome.standard_output, "out\n");
  EXPECT_THAT(run.outcome.standard_error, StartsWith("err\n"));
  EXPECT_THAT(run.outcome.standard_error,
              HasSubstr("nothing was recorded: the command failed with exit code 7 before"));
  // Short, and not wider than a terminal.
  std::istringstream said(run.outcome.standard_error);
  int lines = 0;
  for (std::string line; std::getline(said, line); ++lines) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_LE(lines, 4);
  EXPECT_THAT(run.files(), IsEmpty());
  EXPECT_EQ(run.manifest().at("sources").at("nvtx").at("state"), "nothing came");
}

TEST(Record, ProcessThatOnlyRegistersLeavesNoFile) {
  RecordedRun run;
  record(run, behave({"register_only"}));
  EXPECT_EQ(run.outcome.exit_code, 0);
  EXPECT_THAT(run.files(), IsEmpty());
}

TEST(Record, QuietSaysNothing) {
  RecordedRun run;
  record(run, behave({"leave", "0"}), {}, {"--quiet"});
  EXPECT_EQ(run.outcome.exit_code, 0);
  EXPECT_EQ(run.outcome.standard_error, "");
}

// A run below the folder that the command was given in by the way from there, any other by its whole path.
TEST(Record, SummaryNamesTheRunAndTheNextCommand) {
  RecordedRun run;
  const end_to_end::TemporaryFolder elsewhere;
  const auto summary = [](const std::string& folder, const std::string& output) {
    std::vector<std::string> environment = end_to_end::sanitizers_aside();
    environment.insert(environment.end(), {"RANK=0", "WORLD_SIZE=1"});
    return shell(fmt::format("cd {} && {} record --force -o {} -- {} leave 0", folder, binary("lockstep"),
                             output, kProgram),
                 environment)
        .standard_error;
  };
  const std::string from_elsewhere = summary(elsewhere.path().string(), run.run_path());
  EXPECT_THAT(from_elsewhere, HasSubstr("1 rank, 3 events"));
  EXPECT_THAT(from_elsewhere, HasSubstr("next: lockstep analyze " + run.run_path()));
  EXPECT_THAT(summary(run.folder.path().string(), "run"), HasSubstr("next: lockstep analyze run\n"));
}

TEST(Record, CrashIsPassedOnAndWhatCameBeforeIsKept) {
  RecordedRun run;
  record(run, behave({"crash"}));
  EXPECT_EQ(run.outcome.signal, SIGSEGV);
  const trace::Reader reader = run.open();
  EXPECT_FALSE(reader.complete());
  EXPECT_THAT(end_to_end::range_names(reader), ElementsAre("before"));
  EXPECT_THAT(end_to_end::unfinished_names(reader), ElementsAre("crashing"));
  EXPECT_EQ(run.manifest().at("exit_code"), nullptr);
  EXPECT_EQ(run.manifest().at("signal").at("name"), "SIGSEGV");
  EXPECT_THAT(run.outcome.standard_error, HasSubstr("1 file was not closed"));
}

TEST(Record, AbortIsPassedOn) {
  RecordedRun run;
  record(run, behave({"abort"}));
  EXPECT_EQ(run.outcome.signal, SIGABRT);
}

TEST(Record, UnderscoreExitKeepsItsCode) {
  RecordedRun run;
  record(run, behave({"quick", "11"}));
  EXPECT_EQ(run.outcome.exit_code, 11);
}

TEST(Record, ExitInAThreadKeepsItsCodeAndItsEvents) {
  RecordedRun run;
  record(run, behave({"exit_in_thread"}));
  EXPECT_EQ(run.outcome.exit_code, 5);
  EXPECT_TRUE(run.open().complete());
  EXPECT_THAT(end_to_end::range_names(run.open()), UnorderedElementsAre("before", "in thread"));
}

TEST(Record, EventsOfExitHandlersAndDestructorsAreKept) {
  RecordedRun run;
  record(run, behave({"late_events"}));
  EXPECT_EQ(run.outcome.exit_code, 4);
  EXPECT_THAT(end_to_end::range_names(run.open()),
              UnorderedElementsAre("in main", "in atexit", "in destructor"));
}

TEST(Record, WhatTheProgramBuffersIsPrintedAfterItsExitHandlers) {
  RecordedRun run;
  record(run, behave({"buffer_until_exit"}));
  EXPECT_EQ(run.outcome.exit_code, 5);
  EXPECT_EQ(run.outcome.standard_output, "handler\nbuffered\n");
}

TEST(Record, ThreadsThatEmitBeyondTheEndDoNotHoldItUp) {
  RecordedRun run;
  record(run, behave({"emit_beyond_the_end"}));
  EXPECT_EQ(run.outcome.exit_code, 6);
  const trace::Reader reader = run.open();
  EXPECT_TRUE(reader.complete());
  EXPECT_THAT(end_to_end::range_names(reader), Each("for ever"));
  EXPECT_EQ(end_to_end::find_nesting_error(reader), "");
}

TEST(Record, KilledInMidRunLeavesAReadableRunWithAtMostASecondLost) {
  RecordedRun run;
  const std::string count = run.folder / "count";
  // The program emits at most one range a millisecond and says how many it has done; it is killed at 1500.
  record(run,
         {"/bin/sh", "-c",
          fmt::format(
              "{} run_on > {} & until [ \"$(tail -n 1 {})\" -ge 1500 ] 2>/dev/null; do sleep 0.02; done; "
              "kill -9 $!; wait $!",
              kProgram, count, count)});
  EXPECT_EQ(run.outcome.exit_code, 128 + SIGKILL);
  std::ifstream lines(count);
  int done = 0;
  for (int line = 0; lines >> line;) done = line;
  const trace::Reader reader = run.open();
  EXPECT_FALSE(reader.complete());
  const std::vector<std::string> names = end_to_end::range_names(reader);
  EXPECT_GE(static_cast<int>(names.size()), done - 1000);
  for (std::size_t i = 0; i < names.size(); ++i) ASSERT_EQ(names[i], "range " + std::to_string(i));
  EXPECT_THAT(end_to_end::unfinished_names(reader), ElementsAre("outermost"));
}

TEST(Record, JobGoesOnWhenTheRecorderIsKilled) {
  RecordedRun run;
  const std::string folder = run.folder.path().string();
  const Outcome outcome =
      shell(fmt::format("cd {0}; {1} record -o run -- sh -c 'touch started; until [ -e go ]; do sleep 0.02; "
                        "done; {2} leave 0; touch done' & until [ -e started ]; do sleep 0.02; done; kill -9 "
                        "$!; touch go; until [ -e done ]; do sleep 0.02; done",
                        folder, binary("lockstep"), kProgram));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(run.manifest().at("state"), "running");
  EXPECT_THAT(end_to_end::range_names(run.open()), SizeIs(3));
}

// --- signals ---

class RecordSignal : public testing::TestWithParam<int> {};
TEST_P(RecordSignal, IsPassedOn) {
  RecordedRun run;
  const Outcome outcome =
      shell(fmt::format("cd {}; {} record -o run -- {} wait_for_signal > out & until grep -q ready out; do "
                        "sleep 0.02; done; kill -{} $!; wait $!",
                        run.folder.path().string(), binary("lockstep"), kProgram, GetParam()));
  EXPECT_EQ(outcome.exit_code, GetParam());
  EXPECT_EQ(run.manifest().at("exit_code"), GetParam());
  const bool asks_to_end = GetParam() != SIGUSR1 && GetParam() != SIGUSR2;
  ASSERT_EQ(run.manifest().contains("interrupted"), asks_to_end);
  if (asks_to_end) {
    EXPECT_EQ(run.manifest().at("interrupted").at("signal").at("number"), GetParam());
  }
}
INSTANTIATE_TEST_SUITE_P(Signals, RecordSignal,
                         testing::Values(SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM));

// Types Ctrl-C on a terminal of our own once `command` has printed "ready", and returns its wait status.
int interrupt_at_terminal(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    execv(arguments[0], arguments.data());
    _exit(125);
  }
  std::string shown;
  std::array<char, 256> part{};
  bool typed = false;
  for (ssize_t length = 0; (length = read(terminal, part.data(), part.size())) > 0;) {
    shown.append(part.data(), static_cast<std::size_t>(length));
    if (typed || shown.find("ready") == std::string::npos) continue;
    typed = true;
    EXPECT_EQ(write(terminal, "\x03", 1), 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  close(terminal);
  return status;
}

TEST(Record, ControlCReachesTheJobOnce) {
  RecordedRun run;
  const int status = interrupt_at_terminal(
      {binary("lockstep"), "record", "-o", run.run_path(), "--", kProgram, "count_interrupts"});
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_TRUE(run.open().complete());
}

TEST(Record, ControlCThatEndsTheJobEndsUsTheSameWay) {
  RecordedRun run;
  const int status = interrupt_at_terminal({binary("lockstep"), "record", "-o", run.run_path(), "--",
                                            "/bin/sh", "-c", "echo ready; exec sleep 1000"});
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
  EXPECT_EQ(run.manifest().at("signal").at("name"), "SIGINT");
  EXPECT_EQ(run.manifest().at("interrupted").at("signal").at("number"), SIGINT);
}

TEST(Record, DiesByTheSignalThatKilledTheJob) {
  RecordedRun run;
  record(run, {"/bin/sh", "-c", "kill -TERM $$"});
  EXPECT_EQ(run.outcome.signal, SIGTERM);
  EXPECT_EQ(run.manifest().at("signal").at("number"), SIGTERM);
  EXPECT_THAT(run.outcome.standard_error,
              HasSubstr("the command was ended by SIGTERM before it was seen to train"));
}

TEST(Record, NvtxCallsInSignalHandlersDoNoHarm) {
  RecordedRun run;
  constexpr int kCount = 20000;
  record(run, behave({"handlers", std::to_string(kCount)}), {}, {"--buffer-size", "512"});
  EXPECT_EQ(run.outcome.exit_code, 0);
  const trace::Reader reader = run.open();
  const std::vector<std::string> names = end_to_end::range_names(reader);
  EXPECT_EQ(std::count(names.begin(), names.end(), "outer"), kCount);
  EXPECT_EQ(std::count(names.begin(), names.end(), "inner"), kCount);
  EXPECT_EQ(end_to_end::find_nesting_error(reader), "");
  for (const auto& [reason, count] : end_to_end::drops(reader)) {
    EXPECT_EQ(reason, "call from a signal handler that interrupted the tracer");
  }
}

// --- processes and threads ---

TEST(Record, ForkedChildrenWriteFilesOfTheirOwn) {
  RecordedRun run;
  record(run, behave({"fork", "3"}), {"RANK=0", "WORLD_SIZE=1"});
  EXPECT_EQ(run.outcome.exit_code, 0) << run.outcome.standard_error;
  ASSERT_THAT(run.files(), SizeIs(4));
  EXPECT_THAT(end_to_end::range_names(run.open("rank-0.lst")),
              UnorderedElementsAre("parent before", "parent around", "parent after"));
  std::set<std::string> children;
  for (const std::string& file : run.files()) {
    if (file == "rank-0.lst") continue;
    EXPECT_THAT(file, StartsWith("proc-"));
    const trace::Reader reader = run.open(file);
    EXPECT_TRUE(reader.complete()) << file;
    EXPECT_EQ(reader.metadata().at("inherited_rank"), "0");
    EXPECT_EQ(reader.metadata().count("rank"), 0U);
    EXPECT_EQ(reader.metadata().at("parent_process"), run.open("rank-0.lst").metadata().at("process"));
    const std::vector<std::string> names = end_to_end::range_names(reader);
    ASSERT_THAT(names, SizeIs(10));
    const std::string prefix = names.front().substr(0, names.front().size() - 1);
    children.insert(prefix);
    for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(names[i], prefix + std::to_string(i));
  }
  EXPECT_THAT(children, ElementsAre("child 0 range ", "child 1 range ", "child 2 range "));
  EXPECT_THAT(run.manifest().at("ranks"), SizeIs(1));
  EXPECT_THAT(run.manifest().at("processes"), SizeIs(3));
}

TEST(Record, ProgramsThatReplaceThemselvesWriteOneFileEach) {
  RecordedRun run;
  record(run, behave({"exec", "2"}), {"RANK=0", "WORLD_SIZE=1"});
  EXPECT_EQ(run.outcome.exit_code, 9) << run.outcome.standard_error;
  std::vector<std::string> names;
  std::set<std::string> processes;
  for (const std::string& file : run.files()) {
    const trace::Reader reader = run.open(file);
    EXPECT_THAT(end_to_end::range_names(reader), SizeIs(1)) << file;
    names.push_back(end_to_end::range_names(reader).front());
    processes.insert(reader.metadata().at("process"));
  }
  EXPECT_THAT(names, UnorderedElementsAre("link 2", "link 1", "link 0"));
  EXPECT_THAT(processes, SizeIs(1));
  EXPECT_THAT(end_to_end::range_names(run.open("rank-0.lst")), ElementsAre("link 2"));
}

TEST(Record, EveryThreadHasItsLane) {
  RecordedRun run;
  record(run, behave({"threads", "8", "1000"}));
  EXPECT_EQ(run.outcome.exit_code, 0);
  const trace::Reader reader = run.open();
  std::map<std::string, std::map<std::string, int>> by_lane;
  ASSERT_TRUE(reader
                  .read<trace::HostRange>({},
                                          [&](const trace::HostRange& range) {
                                            const std::string lane = reader.lanes()[range.lane].name;
                                            ++by_lane[lane][std::string(reader.string(range.name))];
                                          })
                  .ok());
  ASSERT_THAT(by_lane, SizeIs(8));
  for (int t = 0; t < 8; ++t) {
    const std::map<std::string, int> expected{{"outer", 1}, {fmt::format("thread {}", t), 1000}};
    EXPECT_EQ(by_lane[fmt::format("worker {}", t)], expected);
  }
  EXPECT_EQ(end_to_end::find_nesting_error(reader), "");
  EXPECT_THAT(end_to_end::drops(reader), IsEmpty());
}

TEST(Record, RingsOfThreadsThatEndedAreUsedAgain) {
  RecordedRun run;
  // The smallest buffers: without reuse, room for far fewer threads than these.
  constexpr std::uint64_t kThreads = 8000;
  record(run, behave({"short_threads", std::to_string(kThreads)}), {}, {"--buffer-size", "1"});
  EXPECT_EQ(run.outcome.exit_code, 0);
  const trace::Reader reader = run.open();
  const std::uint64_t lost = end_to_end::drops(reader)["more threads than buffers"];
  EXPECT_EQ(reader.count(trace::EventKind::host_range) + lost, kThreads);
  // One MiB is 40 rings; how many more threads find one that was given back depends on who runs when.
  EXPECT_GT(reader.count(trace::EventKind::host_range), 40U);
}

TEST(Record, FullRingLosesWholeRangesAndCountsEachOnce) {
  RecordedRun run;
  constexpr std::uint64_t kCount = 300000;
  record(run, behave({"flood", std::to_string(kCount)}), {}, {"--buffer-size", "1"});
  EXPECT_EQ(run.outcome.exit_code, 0);
  const trace::Reader reader = run.open();
  const std::uint64_t lost = end_to_end::drops(reader)["ring full"];
  EXPECT_EQ(reader.count(trace::EventKind::host_range) + lost, 2 * kCount + 1);
  EXPECT_EQ(end_to_end::find_nesting_error(reader), "");
  EXPECT_THAT(end_to_end::unfinished_names(reader), IsEmpty());
  if (lost != 0) {
    EXPECT_EQ(run.manifest().at("dropped").at("ring full"), lost);
    EXPECT_THAT(run.outcome.standard_error, HasSubstr("--buffer-size"));
  }
}

TEST(Record, RankAndWorldComeFromTheLauncher) {
  RecordedRun run;
  record(
      run, behave({"leave", "0"}),
      {"OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_LOCAL_RANK=1", "SLURM_PROCID=0"});
  EXPECT_THAT(run.files(), ElementsAre("rank-2.lst"));
  const trace::Reader reader = run.open();
  EXPECT_EQ(reader.metadata().at("rank"), "2");
  EXPECT_EQ(reader.metadata().at("world_size"), "4");
  EXPECT_EQ(reader.metadata().at("local_rank"), "1");
  EXPECT_EQ(run.manifest().at("world_size"), 4);
  EXPECT_EQ(run.manifest().at("ranks").at(0).at("rank"), 2);
  EXPECT_EQ(run.manifest().at("missing_ranks"), nlohmann::json::parse("[0, 1, 3]"));
  EXPECT_THAT(run.outcome.standard_error, HasSubstr("these left no trace: 0, 1, 3"));
}

}  // namespace
}  // namespace lockstep

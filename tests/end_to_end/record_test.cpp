// `lockstep record` around programs that end, split and misbehave in every way
// (programs/nvtx_behaviours.cpp): the job's own outcome is untouched, and what could be recorded can be read.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <set>

#include "tests/end_to_end/recorded_run.h"

namespace lockstep {
namespace {

using end_to_end::binary;
using end_to_end::Outcome;
using end_to_end::record;
using end_to_end::RecordedRun;
using end_to_end::TemporaryFolder;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using testing::UnorderedElementsAre;

const std::string kProgram = end_to_end::program("nvtx_behaviours");

std::vector<std::string> behave(std::initializer_list<std::string> arguments) {
  std::vector<std::string> command{kProgram};
  command.insert(command.end(), arguments);
  return command;
}

Outcome shell(const std::string& script, const std::vector<std::string>& environment = {}) {
  return end_to_end::run({"/bin/sh", "-c", script}, environment);
}

std::string injection_library() {
  return std::string(LOCKSTEP_BIN_DIR) + "/../lib/liblockstep-inject.so";
}

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
  EXPECT_THAT(run.outcome.standard_error, HasSubstr("nothing was recorded"));
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

TEST(Record, SummaryNamesTheRunAndTheNextCommand) {
  RecordedRun run;
  record(run, behave({"leave", "0"}), {"RANK=0", "WORLD_SIZE=1"});
  EXPECT_THAT(run.outcome.standard_error, HasSubstr("1 rank, 3 events"));
  EXPECT_THAT(run.outcome.standard_error, HasSubstr("next: lockstep analyze " + run.run_path()));
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
                        "done; {2} leave 0; touch done' & "
                        "until [ -e started ]; do sleep 0.02; done; kill -9 $!; touch go; until [ -e done ]; "
                        "do sleep 0.02; done",
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
                        "sleep 0.02; done; kill -{} $!; "
                        "wait $!",
                        run.folder.path().string(), binary("lockstep"), kProgram, GetParam()));
  EXPECT_EQ(outcome.exit_code, GetParam());
  EXPECT_EQ(run.manifest().at("exit_code"), GetParam());
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
}

TEST(Record, DiesByTheSignalThatKilledTheJob) {
  RecordedRun run;
  record(run, {"/bin/sh", "-c", "kill -TERM $$"});
  EXPECT_EQ(run.outcome.signal, SIGTERM);
  EXPECT_EQ(run.manifest().at("signal").at("number"), SIGTERM);
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

// --- where nothing can be written ---

TEST(Record, ClosedDescriptorsAreNotWrittenTo) {
  RecordedRun run;
  const std::string own = run.folder / "own";
  record(run, behave({"close_descriptors", own}));
  EXPECT_EQ(run.outcome.exit_code, 0) << "the program's own file was written to";
  EXPECT_THAT(end_to_end::range_names(run.open()), Contains("before"));
}

TEST(Record, FileSizeLimitEndsTheRecordingNotTheJob) {
  RecordedRun run;
  record(run, {"/bin/sh", "-c", fmt::format("ulimit -f 1000; exec {} fill 6000", kProgram)});
  EXPECT_EQ(run.outcome.exit_code, 3);
  EXPECT_EQ(run.outcome.signal, 0);
  EXPECT_FALSE(run.open().complete());
  EXPECT_GT(run.open().count(trace::EventKind::host_range), 0U);
}

// A file system of its own; not mounted where that isn't allowed.
class Mount {
 public:
  Mount(const std::string& path, unsigned long flags, const char* options) : path_(path) {
    ::mkdir(path.c_str(), 0755);
    mounted_ = ::mount("none", path.c_str(), "tmpfs", flags, options) == 0;
  }
  ~Mount() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;
  bool mounted() const { return mounted_; }

 private:
  std::string path_;
  bool mounted_ = false;
};

TEST(Record, FullDiskEndsTheRecordingNotTheJob) {
  RecordedRun run;
  const Mount disk(run.run_path(), 0, "size=512k");
  if (!disk.mounted()) GTEST_SKIP() << "mounting a small file system is not allowed here";
  record(run, behave({"fill", "6000"}));
  EXPECT_EQ(run.outcome.exit_code, 3);
  EXPECT_FALSE(run.open().complete());
  EXPECT_GT(run.open().count(trace::EventKind::host_range), 0U);
}

TEST(Record, ReadOnlyFolderLetsTheJobRunUnrecorded) {
  RecordedRun run;
  const std::string folder = run.folder / "read-only";
  std::optional<Mount> mount;
  if (geteuid() == 0) {
    mount.emplace(folder, MS_RDONLY, "size=64k");
    if (!mount->mounted()) GTEST_SKIP() << "root may write everywhere, and mounting is not allowed here";
  } else {
    ::mkdir(folder.c_str(), 0555);
  }
  for (const std::string& path : {folder, folder + "/run"}) {
    const Outcome outcome =
        end_to_end::run({binary("lockstep"), "record", "-o", path, "--", kProgram, "leave", "7"});
    EXPECT_EQ(outcome.exit_code, 7);
    EXPECT_THAT(outcome.standard_error, HasSubstr("the command runs unrecorded"));
  }
}

TEST(Record, FolderThatIsGoneLetsTheProgramRun) {
  for (const std::string folder : {"/nonexistent/run", "/proc/self/nothing", "", "/dev/null"}) {
    const Outcome outcome = end_to_end::run(
        behave({"leave", "7"}), {"NVTX_INJECTION64_PATH=" + injection_library(), "LOCKSTEP_RUN=" + folder});
    EXPECT_EQ(outcome.exit_code, 7) << folder;
    EXPECT_EQ(outcome.standard_error, "") << folder;
  }
}

TEST(Record, ChangeOfUserIsSurvived) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can change the user";
  RecordedRun run;
  record(run, behave({"change_user"}));
  EXPECT_EQ(run.outcome.exit_code, 0);
  EXPECT_THAT(end_to_end::range_names(run.open()), ElementsAre("as root", "as nobody"));
}

// --- the command line ---

TEST(Record, MissingCommandIs127AndLeavesNothing) {
  RecordedRun run;
  record(run, {"no-such-command-anywhere"});
  EXPECT_EQ(run.outcome.exit_code, 127);
  EXPECT_THAT(run.outcome.standard_error, HasSubstr("'no-such-command-anywhere'"));
  EXPECT_FALSE(std::filesystem::exists(run.run_path()));
  record(run, {run.folder / "nothing"});
  EXPECT_EQ(run.outcome.exit_code, 127);
}

TEST(Record, CommandThatCannotBeExecutedIs126) {
  RecordedRun run;
  const std::string file = run.folder / "file";
  std::ofstream(file) << "text";
  record(run, {file});
  EXPECT_EQ(run.outcome.exit_code, 126);
  record(run, {run.folder.path().string()});
  EXPECT_EQ(run.outcome.exit_code, 126);
  EXPECT_FALSE(std::filesystem::exists(run.run_path()));
}

TEST(Record, MissingInterpreterIs127AndLeavesNothing) {
  RecordedRun run;
  const std::string script = run.folder / "script";
  std::ofstream(script) << "#!/no/such/interpreter\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  record(run, {script});
  EXPECT_EQ(run.outcome.exit_code, 127);
  EXPECT_THAT(run.outcome.standard_error, HasSubstr("interpreter"));
  EXPECT_FALSE(std::filesystem::exists(run.run_path()));
}

TEST(Record, RefusesToOverwriteARun) {
  RecordedRun run;
  record(run, behave({"leave", "0"}));
  const std::vector<std::string> before = run.files();
  const std::string witness = run.folder / "witness";
  record(run, {"touch", witness});
  EXPECT_EQ(run.outcome.exit_code, 2);
  EXPECT_THAT(run.outcome.standard_error, HasSubstr("--force"));
  EXPECT_FALSE(std::filesystem::exists(witness)) << "the command must not have run";
  EXPECT_EQ(run.files(), before);
}

TEST(Record, ForceDeletesTheRunAndNothingElse) {
  RecordedRun run;
  record(run, behave({"leave", "0"}), {"RANK=0"});
  std::ofstream(run.run_path() + "/notes.txt") << "mine";
  std::ofstream(run.run_path() + "/other.lst") << "mine too";
  record(run, behave({"leave", "0"}), {"RANK=1"}, {"--force"});
  EXPECT_EQ(run.outcome.exit_code, 0);
  EXPECT_THAT(run.files(), ElementsAre("other.lst", "rank-1.lst"));
  EXPECT_TRUE(std::filesystem::exists(run.run_path() + "/notes.txt"));
}

TEST(Record, ForceNeverTouchesAFolderThatIsNoRun) {
  RecordedRun run;
  std::filesystem::create_directory(run.run_path());
  std::ofstream(run.run_path() + "/manifest.json") << R"({"name": "a web application"})";
  std::ofstream(run.run_path() + "/thesis.tex") << "years of work";
  record(run, behave({"leave", "0"}), {}, {"--force"});
  EXPECT_EQ(run.outcome.exit_code, 2);
  EXPECT_THAT(run.outcome.standard_error, HasSubstr("not a run of Lockstep"));
  EXPECT_TRUE(std::filesystem::exists(run.run_path() + "/manifest.json"));
  EXPECT_TRUE(std::filesystem::exists(run.run_path() + "/thesis.tex"));
}

TEST(Record, ForceKeepsTheOldRunIfTheCommandDoesNotExist) {
  RecordedRun run;
  record(run, behave({"leave", "0"}));
  const std::vector<std::string> before = run.files();
  record(run, {"no-such-command-anywhere"}, {}, {"--force"});
  EXPECT_EQ(run.outcome.exit_code, 127);
  EXPECT_EQ(run.files(), before);
}

TEST(Record, RunsAreNumberedWithoutAName) {
  const TemporaryFolder folder;
  const Outcome outcome = shell(fmt::format("cd {} && {} record -- true && {} record -- true && ls",
                                            folder.path().string(), binary("lockstep"), binary("lockstep")));
  EXPECT_EQ(outcome.standard_output, "lockstep-run-001\nlockstep-run-002\n");
}

TEST(Record, WrongUsageIs2AndRunsNothing) {
  for (const char* arguments : {"", "-o run", "--forse -- true", "extra -- true", "-o '' -- true", "-- ''",
                                "--buffer-size 0 -- true", "--buffer-size many -- true", "-o"}) {
    const TemporaryFolder folder;
    const Outcome outcome = shell(
        fmt::format("cd {} && exec {} record {}", folder.path().string(), binary("lockstep"), arguments));
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_THAT(outcome.standard_error, HasSubstr("See lockstep record --help")) << arguments;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << arguments;
  }
}

TEST(Record, CommandNeedsNoDashesAndKeepsItsOwnOptions) {
  const TemporaryFolder folder;
  const Outcome outcome = shell(fmt::format("cd {} && {} record -o run sh -c 'echo \"$@\"' -- --force -x",
                                            folder.path().string(), binary("lockstep")));
  // Here the -- is the command's: what is before it looks like a mistake.
  EXPECT_EQ(outcome.exit_code, 2);
  const Outcome plain = shell(
      fmt::format("cd {} && {} record -o run echo --force -x", folder.path().string(), binary("lockstep")));
  EXPECT_EQ(plain.exit_code, 0) << plain.standard_error;
  EXPECT_EQ(plain.standard_output, "--force -x\n");
}

TEST(Record, AnotherToolIsLeftInPlace) {
  RecordedRun run;
  record(run, {"/bin/sh", "-c", "echo $NVTX_INJECTION64_PATH; echo $LOCKSTEP_RUN"},
         {"NVTX_INJECTION64_PATH=/opt/other/libtool.so"});
  EXPECT_EQ(run.outcome.exit_code, 0);
  EXPECT_EQ(run.outcome.standard_output, "/opt/other/libtool.so\n\n");
  EXPECT_THAT(run.outcome.standard_error, HasSubstr("/opt/other/libtool.so"));
  EXPECT_EQ(run.manifest().at("sources").at("nvtx").at("state"), "held by another tool");
}

TEST(Record, RecordersOfOneLaunchShareARun) {
  RecordedRun run;
  const std::vector<std::string> step{"SLURM_JOB_ID=47", "SLURM_STEP_ID=0", "SLURM_NTASKS=2"};
  for (const char* rank : {"SLURM_PROCID=1", "SLURM_PROCID=0"}) {
    std::vector<std::string> environment = step;
    environment.emplace_back(rank);
    record(run, behave({"leave", "0"}), environment);
    EXPECT_EQ(run.outcome.exit_code, 0) << run.outcome.standard_error;
  }
  EXPECT_THAT(run.files(), ElementsAre("rank-0.lst", "rank-1.lst"));
  EXPECT_THAT(run.manifest().at("ranks"), SizeIs(2));
  EXPECT_EQ(run.manifest().at("launch"), "slurm-47.0");
  // The next step of the same job is another run.
  record(run, behave({"leave", "0"}),
         {"SLURM_JOB_ID=47", "SLURM_STEP_ID=1", "SLURM_NTASKS=2", "SLURM_PROCID=0"});
  EXPECT_EQ(run.outcome.exit_code, 2);
}

}  // namespace
}  // namespace lockstep

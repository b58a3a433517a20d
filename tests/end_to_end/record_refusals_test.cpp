// `lockstep record` where nothing can be written, and its command line: what it refuses, with which exit
// code, and that a job which could run does.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/end_to_end/mount.h"
#include "tests/end_to_end/recorded_run.h"

namespace lockstep {
namespace {

using end_to_end::behave;
using end_to_end::binary;
using end_to_end::injection_library;
using end_to_end::Outcome;
using end_to_end::record;
using end_to_end::RecordedRun;
using end_to_end::shell;
using end_to_end::TemporaryFolder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

const std::string kProgram = end_to_end::program("nvtx_behaviours");

// --- where nothing can be written ---

// The file is opened again.
TEST(Record, ClosedDescriptorsAreNotWrittenToAndCostNothing) {
  RecordedRun run;
  const std::string own = run.folder / "own";
  record(run, behave({"close_descriptors", own}));
  EXPECT_EQ(run.outcome.exit_code, 0) << "the program's own file was written to";
  EXPECT_TRUE(run.open().complete());
  const auto names = end_to_end::range_names(run.open());
  EXPECT_THAT(names, SizeIs(20001));
  EXPECT_THAT(names, Contains("before"));
  EXPECT_THAT(names, Contains("after 19999"));
}

TEST(Record, ADescriptorThatIsClosedWhileTheFolderIsGoneEndsTheRecording) {
  RecordedRun run;
  const std::string own = run.folder / "own";
  record(run, behave({"close_descriptors", own, run.run_path()}));
  EXPECT_EQ(run.outcome.exit_code, 0) << "the program's own file was written to";
  EXPECT_FALSE(run.open().complete());
  EXPECT_THAT(end_to_end::range_names(run.open()), ElementsAre("before"));
  EXPECT_THAT(run.outcome.standard_error, HasSubstr("1 file was not closed"));
}

TEST(Record, FileSizeLimitEndsTheRecordingNotTheJob) {
  RecordedRun run;
  record(run, {"/bin/sh", "-c", fmt::format("ulimit -f 1000; exec {} fill 6000", kProgram)});
  EXPECT_EQ(run.outcome.exit_code, 3);
  EXPECT_EQ(run.outcome.signal, 0);
  EXPECT_FALSE(run.open().complete());
  EXPECT_GT(run.open().count(trace::EventKind::host_range), 0U);
}

TEST(Record, FullDiskEndsTheRecordingNotTheJob) {
  RecordedRun run;
  const end_to_end::Mount disk(run.run_path(), 0, "size=512k");
  if (!disk.mounted()) GTEST_SKIP() << "mounting a small file system is not allowed here";
  record(run, behave({"fill", "6000"}));
  EXPECT_EQ(run.outcome.exit_code, 3);
  EXPECT_FALSE(run.open().complete());
  EXPECT_GT(run.open().count(trace::EventKind::host_range), 0U);
  // What came afterwards was counted, and the count is in the file, on a disk that takes nothing more.
  EXPECT_GT(std::stoull(run.open().metadata().at("unwritten")), 0U);
  EXPECT_THAT(run.open().metadata().at("unwritten"), HasSubstr("No space left on device"));
  EXPECT_THAT(run.outcome.standard_error, HasSubstr("events were lost in "));
  EXPECT_THAT(run.outcome.standard_error, testing::Not(HasSubstr("all but its last moment")));
}

TEST(Record, ReadOnlyFolderLetsTheJobRunUnrecorded) {
  RecordedRun run;
  const std::string folder = run.folder / "read-only";
  std::optional<end_to_end::Mount> mount;
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
  EXPECT_THAT(run.outcome.standard_error, HasSubstr("chmod +x"));
  record(run, {run.folder.path().string()});
  EXPECT_EQ(run.outcome.exit_code, 126);
  EXPECT_THAT(run.outcome.standard_error, HasSubstr("it is a directory"));
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

TEST(Record, AnotherNcclPluginStaysAndIsNamed) {
  for (const std::string other : {"", "/opt/other/libplugin.so"}) {
    RecordedRun run;
    record(run, {"/bin/sh", "-c", "echo $NCCL_PROFILER_PLUGIN"}, {"NCCL_PROFILER_PLUGIN=" + other});
    EXPECT_THAT(run.outcome.standard_output,
                testing::EndsWith(other.empty() ? "/liblockstep-inject.so\n" : other + "\n"));
    const bool is_named =
        run.outcome.standard_error.find("NCCL_PROFILER_PLUGIN is set to '/opt/other") != std::string::npos;
    EXPECT_EQ(is_named, !other.empty()) << run.outcome.standard_error;
  }
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

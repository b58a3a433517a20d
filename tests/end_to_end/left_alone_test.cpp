// Processes that can't be recorded: they run as if we were not there, and are counted and named.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "tests/end_to_end/mount.h"
#include "tests/end_to_end/recorded_run.h"
#include "tests/sanitizers.h"

namespace lockstep::end_to_end {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kExitCode = 7;  // of programs/left_alone.cpp and left_alone_c.c

// The recorder breaks its lines at blanks.
std::string in_one_line(const std::string& text) {
  return std::regex_replace(text, std::regex("\n  "), " ");
}

struct Way {
  const char* name;
  const char* program;
  const char* reason;
};
void PrintTo(const Way& way, std::ostream* out) {
  *out << way.name;
}

class LeftAlone : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (kSanitized)
      GTEST_SKIP() << "programs that are linked or instrumented otherwise are built without sanitizers";
    if (!std::filesystem::exists(program(GetParam().program)))
      GTEST_SKIP() << "no clang was found that builds with this sanitizer";
    // MemorySanitizer and DataFlowSanitizer want addresses to themselves that a kernel may have given away.
    if (end_to_end::run({program(GetParam().program)}).exit_code != kExitCode)
      GTEST_SKIP() << "what is built with this sanitizer does not run on this machine";
  }
};

TEST_P(LeftAlone, RunsAsIfWeWereNotThere) {
  const std::string program = end_to_end::program(GetParam().program);
  RecordedRun run;
  record(run, {program});
  EXPECT_EQ(run.outcome.exit_code, kExitCode);
  EXPECT_EQ(run.outcome.signal, 0);
  EXPECT_EQ(run.outcome.standard_output, "done\n");
  const std::string said = fmt::format("nothing was recorded: 1 process left no file: {}", GetParam().reason);
  EXPECT_THAT(in_one_line(run.outcome.standard_error), HasSubstr(said));
  const json unrecorded = run.manifest().at("unrecorded");
  ASSERT_EQ(unrecorded.size(), 1U);
  EXPECT_THAT(unrecorded[0].at("reason").get<std::string>(), HasSubstr(GetParam().reason));
  EXPECT_THAT(unrecorded[0].at("programs"), ElementsAre(std::filesystem::canonical(program).string()));
}

// The environment reaches what the recorder never starts.
TEST_P(LeftAlone, AsAGrandchildToo) {
  RecordedRun run;
  record(run, {"/bin/sh", "-c",
               fmt::format("{0}; echo $?; {0}; echo $?; {1}", program(GetParam().program),
                           program("left_alone_plain"))});
  EXPECT_EQ(run.outcome.exit_code, kExitCode);
  EXPECT_EQ(run.outcome.standard_output, "done\n7\ndone\n7\ndone\n");
  EXPECT_EQ(run.files().size(), 1U);
  EXPECT_EQ(run.open().count(trace::EventKind::host_range), 4001U);
  EXPECT_EQ(run.manifest().at("unrecorded").at(0).at("processes"), 2);
  EXPECT_THAT(in_one_line(run.outcome.standard_error),
              HasSubstr(fmt::format("2 processes left no file: {}", GetParam().reason)));
}

INSTANTIATE_TEST_SUITE_P(
    Of, LeftAlone,
    testing::Values(Way{"Static", "left_alone_static", "it is statically linked"},
                    Way{"StaticPie", "left_alone_static_pie", "it is statically linked"},
                    Way{"ThreadSanitizer", "left_alone_tsan", "it is built with ThreadSanitizer"},
                    Way{"MemorySanitizer", "left_alone_memory", "it is built with MemorySanitizer"},
                    Way{"DataFlowSanitizer", "left_alone_dataflow", "it is built with DataFlowSanitizer"}),
    [](const auto& info) { return info.param.name; });

// As a loader that is called as a command shows: no interpreter is mapped, and the program is dynamic.
TEST(NotLeftAlone, ProgramsOfALoaderThatIsNamed) {
  const char* const loader = "/lib64/ld-linux-x86-64.so.2";
  if (!std::filesystem::exists(loader)) GTEST_SKIP() << "no " << loader << " on this machine";
  if (kSanitized) GTEST_SKIP() << "a sanitizer can't be loaded that way";
  RecordedRun run;
  record(run, {loader, program("left_alone_plain")});
  EXPECT_EQ(run.outcome.exit_code, kExitCode);
  EXPECT_EQ(run.open().count(trace::EventKind::host_range), 4001U);
}

// 18 of 21 processes were missing once without a word.
TEST(Unrecorded, ProcessesOfAnotherUserAreCountedAndNamed) {
  if (getuid() != 0) GTEST_SKIP() << "only root can start processes of another user";
  RecordedRun run;
  std::filesystem::permissions(run.folder.path(), std::filesystem::perms(0755));
  const std::string job = program("nvtx_behaviours");
  record(run,
         {"/bin/bash", "-c",
          fmt::format("for i in $(seq 18); do setpriv --reuid 65534 --clear-groups {0} leave & done; wait; "
                      "for i in 1 2 3; do {0} leave; done; exit 5",
                      job)});
  EXPECT_EQ(run.outcome.exit_code, 5) << run.outcome.standard_error;
  EXPECT_EQ(run.files().size(), 3U);
  const json unrecorded = run.manifest().at("unrecorded");
  ASSERT_EQ(unrecorded.size(), 1U);
  EXPECT_EQ(unrecorded[0].at("processes"), 18);
  EXPECT_THAT(unrecorded[0].at("users"), ElementsAre(65534));
  EXPECT_THAT(unrecorded[0].at("reason").get<std::string>(), HasSubstr("Permission denied"));
  EXPECT_THAT(in_one_line(run.outcome.standard_error),
              HasSubstr("18 processes left no file: its file could not be created: Permission denied"));
}

// Nothing of a process may be there that ends before its file: then it is counted.
TEST(Unrecorded, ProcessesThatAreGoneAtOnceAreThereOrCounted) {
  RecordedRun run;
  record(run, {"/bin/bash", "-c",
               fmt::format("for i in $(seq 40); do {} quick; done; exit 5", program("nvtx_behaviours"))});
  EXPECT_EQ(run.outcome.exit_code, 5) << run.outcome.standard_error;
  std::size_t told = 0;
  for (const json& of : run.manifest().value("unrecorded", json::array())) {
    EXPECT_THAT(of.at("reason").get<std::string>(), HasSubstr("within a moment of the first event"));
    told += of.at("processes").get<std::size_t>();
  }
  EXPECT_EQ(run.files().size() + told, 40U);
}

// There is none for the file, and none for the socket that says so.
TEST(Unrecorded, AProcessWithoutAFreeDescriptorIsCountedAndNamed) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs descriptors itself";
  RecordedRun run;
  record(run, behave({"no_descriptors", run.folder / "locked"}));
  EXPECT_EQ(run.outcome.exit_code, 5) << "it has lost a descriptor, or a lock";
  const json unrecorded = run.manifest().value("unrecorded", json::array());
  ASSERT_EQ(unrecorded.size(), 1U) << run.outcome.standard_error;
  EXPECT_EQ(unrecorded[0].at("processes"), 1);
  EXPECT_EQ(unrecorded[0].at("reason"), "its file could not be created: Too many open files");
}

TEST(Unrecorded, ProcessesThatFindNoRoomAreCountedAndNamed) {
  for (const char* options : {"nr_inodes=8", "size=24k"}) {
    RecordedRun run;
    const std::string disk_path = run.folder / "disk";
    const Mount disk(disk_path, 0, options);
    if (!disk.mounted()) GTEST_SKIP() << "mounting a small file system is not allowed here";
    const std::string job = program("nvtx_behaviours");
    run.outcome = end_to_end::run(record_command(
        disk_path + "/run", {},
        {"/bin/bash", "-c", fmt::format("for i in $(seq 12); do {} leave; done; exit 5", job)}));
    EXPECT_EQ(run.outcome.exit_code, 5) << run.outcome.standard_error;
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(disk_path + "/run"))
      files += entry.path().extension() == ".lst" ? 1 : 0;
    std::ifstream stream(disk_path + "/run/manifest.json");
    const json manifest = json::parse(stream);
    std::size_t told = 0;
    for (const json& of : manifest.value("unrecorded", json::array()))
      told += of.at("processes").get<std::size_t>();
    EXPECT_LT(files, 12U) << options;
    EXPECT_EQ(files + told, 12U) << options << "\n" << run.outcome.standard_error;
  }
}

}  // namespace
}  // namespace lockstep::end_to_end

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/import/run/run.h"
#include "analyzer/import/run/side_file.h"
#include "analyzer/import/test_files.h"
#include "trace/checked_json.h"

namespace lockstep::analyzer::run {
namespace {

using testing::HasSubstr;

TEST(RunFolder, ListsRanksAndCountsTheRest) {
  const TemporaryFolder folder;
  for (const char* name : {"rank-10.lst", "rank-2.lst", "proc-node7-99.lst", "rank-x.lst"})
    folder.write(name, "");
  folder.write("manifest.json", R"({"format": "lockstep-run-1", "world_size": 12})");
  EXPECT_TRUE(is_run_folder(folder.path()));
  const Folder run = must(open_folder(folder.path()));
  ASSERT_EQ(run.rank_files.size(), 2u);
  EXPECT_EQ(run.rank_files[0].filename(), "rank-2.lst");
  EXPECT_EQ(run.world_size, 12);
  EXPECT_THAT(find_warning(run.warnings, "processes_without_rank")->message,
              HasSubstr("2 recorded processes are no rank and left out (the first: proc-node7-99.lst)"));
}

TEST(RunFolder, OfWorkersThatWereStartedAnewTheLastAttemptIsTheJob) {
  const TemporaryFolder folder;
  for (const char* name : {"rank-0.lst", "rank-1.lst", "rank-0-restart-1.lst", "rank-0-restart-2.lst",
                           "rank-1-restart-2.lst", "rank-1-restart-x.lst"})
    folder.write(name, "");
  const Folder run = must(open_folder(folder.path()));
  ASSERT_EQ(run.rank_files.size(), 2u);
  EXPECT_EQ(run.rank_files[0].filename(), "rank-0-restart-2.lst");
  EXPECT_EQ(run.rank_files[1].filename(), "rank-1-restart-2.lst");
  EXPECT_THAT(find_warning(run.warnings, "job_restarted")->message,
              testing::AllOf(HasSubstr("torchrun started the workers anew 2 times; this is the last attempt"),
                             HasSubstr("3 files are left out")));
}

TEST(RunFolder, AnAttemptWhoseRanksHadRecordersHasItsOwnManifest) {
  const TemporaryFolder folder;
  for (const char* name : {"rank-0.lst", "rank-1.lst", "rank-0-restart-1.lst", "rank-1-restart-1.lst"})
    folder.write(name, "");
  folder.write("manifest.json", R"({"world_size": 2, "exit_code": 7})");
  EXPECT_EQ(must(open_folder(folder.path())).end.exit_code, 7) << "one recorder for all attempts";
  folder.write("manifest-rank-0-restart-1.json", R"({"world_size": 2, "exit_code": 0})");
  EXPECT_EQ(must(open_folder(folder.path())).end.exit_code, 0);
}

// Of 300 MB it took 900 MB and eight seconds.
TEST(RunFolder, AManifestThatIsLongerThanAnyIsNotParsed) {
  const TemporaryFolder folder;
  folder.write("rank-0.lst", "");
  const auto manifest_with = [&](std::size_t letters) {
    folder.write("manifest.json", R"({"world_size": 3, "command": [")" + std::string(letters, 'a') + "\"]}");
    return must(open_folder(folder.path()));
  };
  EXPECT_EQ(manifest_with(std::size_t{1} << 20U).world_size, 3);
  EXPECT_NE(find_warning(manifest_with(kLongestSideFile).warnings, "manifest_damaged"), nullptr);
}

TEST(RunFolder, ProcessesThatLeftNoFileAreSaid) {
  const TemporaryFolder folder;
  folder.write("rank-0.lst", "");
  folder.write("manifest.json",
               R"({"world_size": 1, "unrecorded": [7, {"reason": 3}, {"reason": "it is statically linked",
                   "processes": 18, "programs": ["/bin/job"]}]})");
  const Folder run = must(open_folder(folder.path()));
  ASSERT_EQ(run.warnings.size(), 1U);
  EXPECT_EQ(run.warnings[0].code, "processes_unrecorded");
  EXPECT_THAT(run.warnings[0].message,
              HasSubstr("18 processes of the job left no file, and nothing of what they did "
                        "is in this report: it is statically linked"));
}

TEST(RunFolder, ARankWhoseSurvivorEndedBeforeItIsSaidOnce) {
  const TemporaryFolder folder;
  for (const char* name : {"rank-0.lst", "rank-1.lst", "rank-2.lst"}) folder.write(name, "");
  const std::string ended =
      R"("survivor_ended": {"since": "2023-11-14T22:13:20.000Z", "reason": "it was killed"}})";
  const std::string ranks = R"({"world_size": 3, "ranks": [{"file": "rank-0.lst", "complete": true, )" +
                            ended + R"(, {"file": "rank-1.lst", "complete": false, )" + ended +
                            R"(, {"file": "rank-9.lst", "complete": false, )" + ended +
                            R"(, {"file": "rank-2.lst", "complete": false, "survivor_ended": 7}, 3]})";
  folder.write("manifest.json", ranks);
  folder.write("manifest-node-1.json", ranks);
  const Folder run = must(open_folder(folder.path()));
  ASSERT_EQ(run.warnings.size(), 1U) << "a file that was closed lacks nothing";
  EXPECT_EQ(run.warnings[0].code, "survivor_ended");
  EXPECT_EQ(run.warnings[0].rank, 1);
  EXPECT_THAT(run.warnings[0].message,
              HasSubstr("ended before it, at 2023-11-14T22:13:20.000Z: it was killed. What"));
}

TEST(RunFolder, TheSignalThatEndedTheJobIsKnown) {
  const TemporaryFolder folder;
  folder.write("rank-0.lst", "");
  folder.write("manifest.json", R"({"exit_code": null, "signal": {"number": 9, "name": "SIGKILL"}})");
  const JobEnd end = must(open_folder(folder.path())).end;
  EXPECT_EQ(end.signal, 9);
  EXPECT_FALSE(end.exit_code.has_value());
  EXPECT_FALSE(end.interrupted_by.has_value());
}

TEST(RunFolder, OfSeveralRecordersTheFirstInterruptionCounts) {
  const TemporaryFolder folder;
  folder.write("rank-0.lst", "");
  folder.write("manifest.json", R"({"exit_code": 1, "signal": null,
      "interrupted": {"signal": {"number": 15, "name": "SIGTERM"}, "time_realtime": 5000}})");
  folder.write("manifest-node-1.json", R"({"exit_code": 1,
      "interrupted": {"signal": {"number": 2, "name": "SIGINT"}, "time_realtime": 3000}})");
  const JobEnd end = must(open_folder(folder.path())).end;
  EXPECT_EQ(end.interrupted_by, 2);
  EXPECT_EQ(end.interrupted_at, 3000);
  EXPECT_EQ(end.exit_code, 1);
  for (const char* damaged : {R"({"interrupted": 3})", R"({"interrupted": {"signal": 2}})",
                              R"({"interrupted": {"signal": {"number": 2}, "time_realtime": "now"}})",
                              R"({"interrupted": {"signal": {"number": -2}, "time_realtime": 7}})"}) {
    folder.write("manifest-node-1.json", damaged);
    EXPECT_EQ(must(open_folder(folder.path())).end.interrupted_at, 5000) << damaged;
  }
}

TEST(RunFolder, AMissingOrDamagedManifestIsAWarning) {
  const TemporaryFolder folder;
  folder.write("rank-0.lst", "");
  EXPECT_NE(find_warning(must(open_folder(folder.path())).warnings, "manifest_missing"), nullptr);
  for (const char* text : {"{\"world", "[]", ""}) {
    folder.write("manifest.json", text);
    EXPECT_NE(find_warning(must(open_folder(folder.path())).warnings, "manifest_damaged"), nullptr) << text;
  }
  for (const char* text :
       {"{}", R"({"world_size": "2"})", R"({"world_size": -2})", R"({"world_size": 1e99})"}) {
    folder.write("manifest.json", text);
    EXPECT_EQ(must(open_folder(folder.path())).world_size, 0) << text;
  }
}

TEST(RunFolder, ADamagedManifestOfAnotherRecorderIsAWarning) {
  const TemporaryFolder folder;
  folder.write("rank-0.lst", "");
  folder.write("manifest.json", R"({"world_size": 1})");
  folder.write("manifest-node-1.json", R"({"interrupted": {)");
  const Folder run = must(open_folder(folder.path()));
  ASSERT_EQ(run.warnings.size(), 1U);
  EXPECT_EQ(run.warnings[0].code, "manifest_damaged");
  EXPECT_THAT(run.warnings[0].message, HasSubstr("manifest-node-1.json: no JSON object; what this recorder"));
  EXPECT_EQ(run.world_size, 1);
}

// A job that ended well and one that did not are a bit apart.
TEST(RunFolder, AManifestThatIsNotAsItWasWrittenIsAWarning) {
  const TemporaryFolder folder;
  folder.write("rank-0.lst", "");
  const std::string whole = trace::with_checksum(R"({"world_size": 1, "exit_code": 0})");
  folder.write("manifest.json", whole);
  EXPECT_EQ(find_warning(must(open_folder(folder.path())).warnings, "manifest_damaged"), nullptr);
  std::string flipped = whole;
  flipped[whole.find("0,")] ^= 1;
  for (const char* name : {"manifest.json", "manifest-node-1.json"}) {
    folder.write("manifest.json", whole);
    folder.write(name, flipped);
    const Folder run = must(open_folder(folder.path()));
    const Warning* const warning = find_warning(run.warnings, "manifest_damaged");
    ASSERT_NE(warning, nullptr) << name;
    EXPECT_THAT(warning->message, testing::AllOf(HasSubstr(name), HasSubstr("may be wrong")));
    EXPECT_EQ(run.end.exit_code, std::string(name) == "manifest.json" ? 1 : 0);
  }
}

TEST(RunFolder, WithoutRanksIsAnErrorThatSaysWhatIsThere) {
  const TemporaryFolder folder;
  EXPECT_FALSE(is_run_folder(folder.path()));
  folder.write("manifest.json", R"({"format": "another tool"})");
  EXPECT_FALSE(is_run_folder(folder.path()));
  folder.write("manifest.json", R"({"format": "lockstep-run-1"})");
  EXPECT_TRUE(is_run_folder(folder.path()));
  EXPECT_THAT(open_folder(folder.path()).error().message, HasSubstr("a run folder without traces"));
  folder.write("proc-node7-99.lst", "");
  folder.write("proc-node7-100.lst", "");
  EXPECT_THAT(
      open_folder(folder.path()).error().message,
      HasSubstr("no process of this run was a rank (2 processes were recorded). To read one by itself: "
                "lockstep analyze '"));
}

TEST(RunFolder, TheOnlyProcessIsTheJob) {
  const TemporaryFolder folder;
  folder.write("proc-node7-99.lst", "");
  const Folder alone = must(open_folder(folder.path()));
  ASSERT_EQ(alone.rank_files.size(), 1U);
  EXPECT_EQ(alone.rank_files[0].filename(), "proc-node7-99.lst");
  EXPECT_TRUE(alone.process_files.empty());
  EXPECT_EQ(find_warning(alone.warnings, "processes_without_rank"), nullptr);
  // Beside a rank it is a helper.
  folder.write("rank-0.lst", "");
  const Folder with_rank = must(open_folder(folder.path()));
  ASSERT_EQ(with_rank.rank_files.size(), 1U);
  EXPECT_EQ(with_rank.rank_files[0].filename(), "rank-0.lst");
  EXPECT_NE(find_warning(with_rank.warnings, "processes_without_rank"), nullptr);
}

}  // namespace
}  // namespace lockstep::analyzer::run

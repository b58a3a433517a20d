#include "viewer/opening/run_request.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "analyzer/import/rank/communication_patterns.h"
#include "tests/temporary_folder.h"

namespace lockstep::viewer {
namespace {

using testing::ElementsAre;

TEST(RunRequest, TwoFoldersAreTwoRunsAndAllElseIsOne) {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("a/trace.json", "");
  folder.write("b/trace.json", "");
  const RunRequest two = request_of({folder / "a", folder / "b"});
  EXPECT_THAT(two.paths, ElementsAre(folder / "a"));
  EXPECT_EQ(two.other, folder / "b");
  for (const std::vector<std::string>& paths :
       {std::vector<std::string>{folder / "a"}, std::vector<std::string>{folder / "a", file},
        std::vector<std::string>{file, folder / "b/trace.json"},
        std::vector<std::string>{folder / "a", folder / "absent"},
        std::vector<std::string>{folder / "a", folder / "b", folder / "a"}}) {
    EXPECT_EQ(request_of(paths).paths, paths);
    EXPECT_EQ(request_of(paths).other, "");
  }
}

TEST(RunRequest, IsCalledByItsLastName) {
  EXPECT_EQ(name_of({{"/runs/monday/"}, "", true}), "monday");
  EXPECT_EQ(place_of({{"/runs/monday/"}, "", true}), "/runs");
  EXPECT_EQ(name_of({{"/a/x.json", "/a/y.json", "/a/z.json"}, "", true}), "x.json and 2 more");
  EXPECT_EQ(name_of({{"/before"}, "/after", true}), "before and after");
  EXPECT_EQ(name_of({{"/"}, "", true}), "/");
  EXPECT_EQ(name_of({{"/a\nb"}, "", true}), "a\\nb");
  EXPECT_EQ(name_of({{}, "", true}), "");
  EXPECT_EQ(name_of({{"."}, "", true}), std::filesystem::current_path().filename().string());
}

TEST(RunRequest, TheLastPartOfAPathIsAsItIsWritten) {
  for (const auto& [path, part] : std::map<std::string, std::string>{{"", ""},
                                                                     {"/", ""},
                                                                     {"//", ""},
                                                                     {".", "."},
                                                                     {"a", "a"},
                                                                     {"a/", "a"},
                                                                     {"/a//", "a"},
                                                                     {"/b/a", "a"}})
    EXPECT_EQ(last_part_of(path), part) << path;
}

TEST(RunRequest, TheShareGrowsFromStageToStageAndFromRunToRun) {
  double before = -1;
  for (std::size_t run = 0; run < 2; ++run) {
    for (const OpeningStage stage :
         {OpeningStage::reading, OpeningStage::analyzing, OpeningStage::preparing}) {
      for (const double done : {0.0, 0.3, 0.99}) {
        const double share = OpeningProgress{run, 2, stage, done, 0}.share();
        EXPECT_GT(share, before);
        before = share;
      }
    }
  }
  EXPECT_LT(before, 1);
  EXPECT_EQ((OpeningProgress{0, 1, OpeningStage::preparing, 7, 0}.share()), 1);
  EXPECT_EQ((OpeningProgress{0, 1, OpeningStage::reading, -1, 0}.share()), 0);
}

std::string profile(int step) {
  return fmt::format(
      R"({{"distributedInfo": {{"rank": 0, "world_size": 1}}, "traceEvents": [
  {{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{0}", "pid": 1, "tid": 1, "ts": {0}000, "dur": 100}},
  {{"ph": "X", "cat": "kernel", "name": "my_ring", "pid": 0, "tid": 7, "ts": {0}010, "dur": 20, "args": {{"stream": 7}}}}]}})",
      step);
}

TEST(RunRequest, HowFilesAreReadIsAsItSays) {
  const test::TemporaryFolder folder;
  for (const int step : {3, 7}) folder.write(fmt::format("run/worker0.{}.json", step), profile(step));
  RunRequest request{{folder / "run"}, folder / "run", false};
  for (const auto& patterns : {std::vector<std::string>{}, {"my_ring=all_reduce"}}) {
    for (const int cycle : {0, 1, 2}) {
      request.communication =
          patterns.empty() ? nullptr : analyzer::CommunicationPatterns::parse(patterns).value();
      request.cycle = cycle;
      EXPECT_EQ(request == (RunRequest{{folder / "run"}, folder / "run", false}),
                patterns.empty() && cycle == 0);
      const auto opened = open_request(request);
      ASSERT_TRUE(opened.ok()) << opened.error().message;
      EXPECT_EQ(opened.value().request, request);
      for (const Scene* scene : {opened.value().scene.get(), opened.value().other.get()}) {
        ASSERT_EQ(scene->data(0).activities.size(), cycle == 0 ? 2u : 1u);
        EXPECT_EQ(scene->data(0).activities[0].activity_class,
                  patterns.empty() ? analyzer::Class::compute : analyzer::Class::collective);
        EXPECT_EQ(scene->timeline().ranks.size(), 1u);
        EXPECT_EQ(scene->report().steps_present.front(), cycle == 2 ? 7 : 3);
      }
    }
  }
}

TEST(RunRequest, OfASecondRunTheErrorSaysSo) {
  const test::TemporaryFolder folder;
  folder.write(
      "run/rank-0.json",
      "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, "
      "\"ts\": 1, \"dur\": 5, \"args\": {\"stream\": 7}}]}");
  const auto alone = open_request({{folder / "run"}, "", true});
  ASSERT_TRUE(alone.ok()) << alone.error().message;
  EXPECT_EQ(alone.value().on_disk.size(), 1u);
  const auto opened = open_request({{folder / "run"}, folder / "absent", true});
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.error().message, testing::StartsWith("--diff: "));
  EXPECT_THAT(opened.error().message, testing::HasSubstr("absent"));
}

}  // namespace
}  // namespace lockstep::viewer

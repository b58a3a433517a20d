#include "analyzer/import/rank/workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "analyzer/import/rank/cycles.h"
#include "analyzer/import/rank/merge.h"
#include "analyzer/import/test_files.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

constexpr Nanoseconds kSecond = 1'000'000'000;
constexpr std::int64_t kNoStep = -1;
constexpr std::int32_t kUnnamed = -1;

// What the profiler's file says: a kernel of 10 ns in one step.
struct Profile {
  std::string name;
  std::int32_t number;  // that was taken as the rank, for want of anything else
  std::int64_t process;
  Nanoseconds begin;
  std::int64_t step;
  std::vector<std::int32_t> groups = {};
  bool says_rank = false;
};

RankImport import_of(const Profile& profile) {
  RankImport import;
  import.source = "kineto";
  import.may_be_a_cycle = true;
  import.process = profile.process;
  import.clock_name = "wall clock";
  import.possible_ranks = profile.groups;
  import.rank_known = profile.number != kUnnamed;
  import.rank_is_guessed = import.rank_known && !profile.says_rank;
  import.trace.rank = std::max(profile.number, 0);
  import.trace.file = "run/" + profile.name;
  import.trace.device = "cuda:0";
  import.trace.lanes = {{ trace::LaneKind::device_stream, 7, "" }};
  Activity activity;
  activity.begin = profile.begin + profile.process % 8;  // no two processes do the same at the same time
  activity.end = activity.begin + 10;
  activity.name = import.strings.intern("gemm");
  import.trace.activities.push_back(activity);
  if (profile.step != kNoStep)
    import.trace.steps.push_back({profile.step, profile.begin, profile.begin + 20});
  if (import.rank_is_guessed) import.warn("rank_from_file_name", "taken from its name");
  finish(import);
  return import;
}

// "0 2 | 1 1 of 3": the ranks and how many profiles each has, and of how many ranks the job is; or an error.
std::string ranks_of(const std::vector<Profile>& profiles, std::vector<Warning>* said = nullptr) {
  std::vector<RankImport> imports;
  imports.reserve(profiles.size());
  for (const Profile& profile : profiles) imports.push_back(import_of(profile));
  settle_workers(imports, imports.size() == 1);
  std::vector<Warning> warnings;
  EXPECT_TRUE(join_cycles(imports, 0, warnings).ok());
  const Result<Job> job = merge_ranks("run", std::move(imports), std::move(warnings), 0);
  if (!job.ok()) return job.error().message;
  if (said != nullptr) *said = job.value().warnings;
  std::string text;
  for (const RankTrace& rank : job.value().ranks)
    text += std::to_string(rank.rank) + "x" + std::to_string(rank.activities.size()) + " ";
  return text + "of " + std::to_string(job.value().world_size);
}

TEST(Workers, FilesOfOneProcessAreItsCycles) {
  std::vector<Warning> said;
  EXPECT_EQ(ranks_of({{"trace_12.json", 12, 4711, 2 * kSecond, 8},
                      {"trace_18.json", 18, 4711, 3 * kSecond, 14},
                      {"trace_6.json", 6, 4711, kSecond, 2}},
                     &said),
            "0x3 of 1")
      << "trace_STEP.json, as PyTorch's tutorial writes them";
  EXPECT_EQ(find_warning(said, "rank_from_file_name"), nullptr);
  ASSERT_NE(find_warning(said, "rank_unknown"), nullptr);
  EXPECT_EQ(find_warning(said, "rank_unknown")->message,
            "run/trace_6.json: no rank in the file, and nothing says that the number in its name is one; "
            "taken as rank 0");
  EXPECT_EQ(ranks_of({{"trace_10.json", 10, 4711, kSecond, kNoStep},
                      {"trace_20.json", 20, 4711, 3 * kSecond, kNoStep}}),
            "0x2 of 1")
      << "without steps";
  EXPECT_EQ(ranks_of({{"vm_1.1796047642500863723.pt.trace.json", kUnnamed, 1, kSecond, 3},
                      {"vm_1.1796047643500863723.pt.trace.json", kUnnamed, 1, 2 * kSecond, 7}}),
            "0x2 of 1");
  EXPECT_EQ(ranks_of({{"trace_0_10.json", 10, 4711, kSecond, 3},
                      {"trace_0_20.json", 20, 4711, 2 * kSecond, 7},
                      {"trace_1_10.json", 10, 4712, kSecond, 3},
                      {"trace_1_20.json", 20, 4712, 2 * kSecond, 7}}),
            "0x2 1x2 of 2");
}

TEST(Workers, NumbersOfOtherSetsStayRanks) {
  EXPECT_EQ(ranks_of({{"trace_0.json", 0, 100, kSecond, 3}, {"trace_1.json", 1, 101, kSecond, 3}}),
            "0x1 1x1 of 2");
  EXPECT_EQ(ranks_of({{"trace_0.json", 0, 1, kSecond, 3}, {"trace_1.json", 1, 1, kSecond, 3}}),
            "0x1 1x1 of 2")
      << "each in a container of its own";
  EXPECT_EQ(ranks_of({{"trace_0.json", 0, 1, kSecond, 3}, {"trace_1.json", 1, 1, kSecond + 100, 3}}),
            "0x1 1x1 of 2")
      << "and their clocks differ by more than the step took";
  EXPECT_EQ(ranks_of({{"rank0.json", 0, 100, kSecond, 3, {}, true},
                      {"rank1.json", 1, 100, 2 * kSecond, 7, {}, true}}),
            "0x1 1x1 of 2")
      << "these say that they are ranks";
}

TEST(Workers, ALoneFilesNumberIsARankWhereTheContentAgrees) {
  std::vector<Warning> said;
  EXPECT_EQ(ranks_of({{"step_500.json", 500, 4711, kSecond, 500}}, &said), "0x1 of 1");
  ASSERT_NE(find_warning(said, "rank_unknown"), nullptr);
  EXPECT_THAT(find_warning(said, "rank_unknown")->message, HasSubstr("the number in its name"));
  EXPECT_EQ(ranks_of({{"trace_3.json", 3, 4711, kSecond, 3, {0, 1, 2, 3}}}), "3x1 of 4");
  EXPECT_EQ(ranks_of({{"rank3.json", 3, 4711, kSecond, 3, {}, true}}), "3x1 of 4");
}

TEST(Workers, ThatTheProfilerNamedAreNumbered) {
  std::vector<Warning> said;
  const std::vector<Profile> two = {
      {"host_101.1700000000000000000.pt.trace.json", kUnnamed, 101, kSecond, 3, {0, 1}},
      {"host_100.1700000000000000000.pt.trace.json", kUnnamed, 100, kSecond, 3, {0, 1}},
      {"host_100.1700000001000000000.pt.trace.json", kUnnamed, 100, 2 * kSecond, 7, {0, 1}},
      {"host_101.1700000001000000000.pt.trace.json", kUnnamed, 101, 2 * kSecond, 7, {0, 1}}};
  EXPECT_EQ(ranks_of(two, &said), "0x2 1x2 of 2");
  ASSERT_NE(find_warning(said, "ranks_assumed"), nullptr);
  EXPECT_THAT(find_warning(said, "ranks_assumed")->message,
              HasSubstr("host_100.1700000000000000000.pt.trace.json is rank 0"));
  std::vector<Profile> of_four = two;
  for (Profile& profile : of_four) profile.groups = {0, 1, 2, 3};
  EXPECT_THAT(ranks_of(of_four), HasSubstr("Name it rank-<N>.json")) << "which two of the four they are";
  std::vector<Profile> apart = {two[0], two[1]};
  apart[1].begin += 3600 * kSecond;
  EXPECT_THAT(ranks_of(apart), HasSubstr("analyze it alone")) << "two jobs, an hour apart";
}

}  // namespace
}  // namespace lockstep::analyzer

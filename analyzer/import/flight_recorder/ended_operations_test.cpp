// Operations of which a dump tells that they ended, and not when: Gloo tells no times, and NCCL starts only
// where it is asked to. That they ended is known all the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/import/flight_recorder/flight_recorder.h"
#include "analyzer/import/rank/merge.h"

namespace lockstep::analyzer::flight_recorder {
namespace {

using nlohmann::json;
using testing::IsEmpty;
using testing::SizeIs;

json entry(const char* name, std::int64_t number, bool ended) {
  const std::int64_t created = 1'758'610'505'000'000'000 + number * 1'000'000;
  const bool is_message = std::string(name).find("send") != std::string::npos;
  return {{"pg_id", 0},
          {"process_group", {"7", "DATA_PARALLEL_GROUP"}},
          {is_message ? "p2p_seq_id" : "collective_seq_id", number},
          {"profiling_name", name},
          {"time_created_ns", created},
          {"time_discovered_started_ns", 0},
          {"time_discovered_completed_ns", 0},
          {"is_p2p", is_message},
          {"state", "scheduled"},
          {"retired", ended}};
}

// Without "pg_status".
json dump(std::vector<json> entries) {
  return {{"a_config", "so that it comes before the entries"},
          {"entries", std::move(entries)},
          {"pg_config", {{"7", {{"name", "7"}, {"ranks", "[5, 1]"}}}}}};
}

RankImport read(const std::string& bytes, const char* path = "nccl_trace_rank_5") {
  return import_bytes(std::as_bytes(std::span(bytes.data(), bytes.size())), path).value();
}

void expect_progress(const RankImport& import, std::int64_t issued, std::int64_t ended) {
  ASSERT_THAT(import.trace.ending.progress, SizeIs(1));
  EXPECT_EQ(import.groups.at(import.trace.ending.progress[0].group).name, "7");
  EXPECT_EQ(import.trace.ending.progress[0].issued, issued);
  EXPECT_EQ(import.trace.ending.progress[0].ended, ended);
}

TEST(EndedOperations, TheLastIsKept) {
  const RankImport import =
      read(dump({entry("gloo:broadcast", 40, true), entry("gloo:all_reduce", 41, true)}).dump());
  EXPECT_THAT(import.trace.activities, IsEmpty());
  EXPECT_THAT(import.trace.ending.operations, IsEmpty());
  const EndedOperation last = import.trace.ending.last_ended.value();
  EXPECT_EQ(import.strings.view(last.name), "gloo:all_reduce");
  EXPECT_EQ(import.groups.at(last.group).name, "7");
  EXPECT_EQ(last.sequence, 41);
  EXPECT_FALSE(last.is_message);
  expect_progress(import, 41, 41);
}

TEST(EndedOperations, AMessageMayBeTheLast) {
  const RankImport import = read(dump({entry("gloo:all_reduce", 40, true), entry("gloo:send 0->1", 9, true),
                                       entry("gloo:all_reduce", 41, false)})
                                     .dump());
  const EndedOperation last = import.trace.ending.last_ended.value();
  EXPECT_EQ(import.strings.view(last.name), "gloo:send to rank 1");
  EXPECT_TRUE(last.is_message);
  EXPECT_EQ(last.sequence, 9);
  expect_progress(import, 41, 40);
}

TEST(EndedOperations, ThoseBehindAnOpenOneProveNothingOfIt) {
  const RankImport import =
      read(dump({entry("gloo:all_reduce", 40, false), entry("gloo:all_reduce", 41, true)}).dump());
  EXPECT_EQ(import.trace.ending.last_ended.value().sequence, 41);
  expect_progress(import, 41, 39);
}

TEST(EndedOperations, OneOfKnownTimesIsAnActivity) {
  json timed = entry("nccl:all_reduce", 42, true);
  timed["time_discovered_started_ns"] = timed["time_created_ns"];
  timed["time_discovered_completed_ns"] = timed["time_created_ns"];
  EXPECT_FALSE(
      read(dump({entry("nccl:all_reduce", 41, true), timed}).dump()).trace.ending.last_ended.has_value());
  EXPECT_EQ(
      read(dump({timed, entry("nccl:all_reduce", 43, true)}).dump()).trace.ending.last_ended.value().sequence,
      43);
}

TEST(EndedOperations, CountsOfTheDumpGoFirst) {
  json all = dump({entry("gloo:all_reduce", 41, true)});
  all["pg_status"] = {{"0", {{"last_enqueued_collective", 50}, {"last_completed_collective", 49}}}};
  expect_progress(read(all.dump()), 50, 49);
}

// What it issued after that is lost.
TEST(EndedOperations, ACutDumpDoesNotTellWhatWasIssuedLast) {
  const std::string text = dump({entry("gloo:all_reduce", 40, true), entry("gloo:all_reduce", 41, true),
                                 entry("gloo:barrier", 42, true)})
                               .dump();
  const RankImport import = read(text.substr(0, text.find("gloo:barrier")));
  EXPECT_EQ(import.trace.ending.last_ended.value().sequence, 41);
  expect_progress(import, kNoSequence, 41);
}

// Names and groups have other numbers in the job than in a file.
TEST(EndedOperations, TheLastIsTheSameInTheJob) {
  json other = dump({entry("gloo:all_reduce", 40, false)});
  other["pg_config"] = {{"3", {{"name", "3"}, {"ranks", "[1, 2]"}}}};
  other["entries"][0]["process_group"] = {"3", "PIPELINE"};
  std::vector<RankImport> ranks;
  ranks.push_back(read(other.dump(), "nccl_trace_rank_1"));
  ranks.push_back(read(dump({entry("gloo:barrier", 41, true)}).dump()));
  const Result<Job> merged = merge_ranks("test", std::move(ranks), {}, 0);
  ASSERT_TRUE(merged.ok());
  const Job& job = merged.value();
  ASSERT_THAT(job.ranks, SizeIs(2));
  EXPECT_FALSE(job.ranks[0].ending.last_ended.has_value());
  const EndedOperation last = job.ranks[1].ending.last_ended.value();
  EXPECT_EQ(job.strings.view(last.name), "gloo:barrier");
  EXPECT_EQ(job.groups.at(last.group).name, "7");
}

}  // namespace
}  // namespace lockstep::analyzer::flight_recorder

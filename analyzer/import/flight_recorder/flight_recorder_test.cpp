#include "analyzer/import/flight_recorder/flight_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "analyzer/import/flight_recorder/dump.h"
#include "analyzer/import/flight_recorder/pickle.h"
#include "analyzer/import/flight_recorder/pickled.h"
#include "analyzer/import/rank/merge.h"
#include "analyzer/import/test_files.h"

namespace lockstep::analyzer::flight_recorder {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kStart = 1'758'610'505'000'000'000;

json entry(int number, const char* name, std::int64_t created_ms) {
  return {{"record_id", 100 + number},
          {"pg_id", 1},
          {"process_group", {"7", "DATA_PARALLEL_GROUP"}},
          {"collective_seq_id", number},
          {"p2p_seq_id", 0},
          {"op_id", number},
          {"profiling_name", name},
          {"time_created_ns", kStart + created_ms * 1'000'000},
          {"input_sizes", {{4096, 2}}},
          {"input_dtypes", {"BFloat16"}},
          {"output_sizes", {{8192, 2}}},
          {"output_dtypes", {"BFloat16"}},
          {"state", "scheduled"},
          {"time_discovered_started_ns", nullptr},
          {"time_discovered_completed_ns", nullptr},
          {"retired", false},
          {"timeout_ms", 180000},
          {"is_p2p", false}};
}

// Rank 5 of 8, in a group of 5 and 1, in this order.
json dump() {
  json all = {{"version", "2.9"},
              {"pg_config",
               {{"0", {{"name", "0"}, {"desc", "default_pg"}, {"ranks", "[0, 1, 2, 3, 4, 5, 6, 7]"}}},
                {"7", {{"name", "7"}, {"desc", "DATA_PARALLEL_GROUP"}, {"ranks", "[5, 1]"}}}}},
              {"pg_status",
               {{"0",
                 {{"last_enqueued_collective", 3},
                  {"last_started_collective", -1},
                  {"last_completed_collective", 3}}},
                {"1",
                 {{"last_enqueued_collective", 42},
                  {"last_started_collective", -1},
                  {"last_completed_collective", 40}}}}},
              {"entries", json::array()}};
  json done = entry(40, "nccl:_all_gather_base", 0);
  done["state"] = "completed";
  done["time_discovered_started_ns"] = kStart + 1'000'000;
  done["time_discovered_completed_ns"] = kStart + 5'000'000;
  all["entries"].push_back(done);
  all["entries"].push_back(entry(41, "nccl:_reduce_scatter_base", 10));
  json message = entry(0, "nccl:send 0->1", 20);
  message["p2p_seq_id"] = 9;
  message["is_p2p"] = true;
  all["entries"].push_back(message);
  json last = entry(42, "nccl:all_reduce", 30);
  last["frames"] = {
      {{"name", "all_reduce"}, {"filename", "/env/lib/site-packages/torch/distributed.py"}, {"line", 1}},
      {{"name", "step"}, {"filename", "train.py"}, {"line", 57}}};
  all["entries"].push_back(last);
  return all;
}

Result<RankImport> read(const std::string& bytes, const char* path = "nccl_trace_rank_5") {
  return import_bytes(std::as_bytes(std::span(bytes.data(), bytes.size())), path);
}

void expect_the_dump(const RankImport& import) {
  const RankTrace& rank = import.trace;
  EXPECT_THAT(import.warnings, IsEmpty());
  EXPECT_EQ(import.source, "flight recorder");
  EXPECT_TRUE(import.rank_known);
  EXPECT_EQ(rank.rank, 5);
  EXPECT_EQ(import.world_size, 8);
  EXPECT_EQ(import.realtime_of_zero, kStart);
  ASSERT_THAT(import.groups, SizeIs(2));
  EXPECT_EQ(import.groups[1].description, "DATA_PARALLEL_GROUP");
  EXPECT_THAT(import.groups[1].ranks, ElementsAre(1, 5));
  ASSERT_THAT(rank.activities, SizeIs(1));
  EXPECT_EQ(rank.activities[0].launch_begin, kUnknownTime);
  EXPECT_EQ(rank.activities[0].begin, 1'000'000);
  EXPECT_EQ(rank.activities[0].end, 5'000'000);
  ASSERT_THAT(rank.communications, SizeIs(1));
  EXPECT_EQ(rank.communications[0].operation, Operation::all_gather);
  EXPECT_EQ(rank.communications[0].sequence, 40);
  EXPECT_EQ(rank.communications[0].bytes, 8192 * 2 * 2) << "the larger side";
  EXPECT_EQ(rank.communications[0].data_type, DataType::bfloat16);
  ASSERT_THAT(rank.ending.operations, SizeIs(3));
  EXPECT_EQ(rank.ending.operations[0].operation, Operation::reduce_scatter);
  EXPECT_EQ(rank.ending.operations[0].sequence, 41);
  EXPECT_EQ(rank.ending.operations[0].group, 1U);
  // "nccl:send 0->1" names ranks of the group.
  EXPECT_EQ(import.strings.view(rank.ending.operations[1].name), "nccl:send to rank 1");
  EXPECT_FALSE(rank.ending.operations[0].begun) << "the dump tells what has started, and this has not";
  EXPECT_EQ(rank.ending.operations[0].begin, 10'000'000);
  EXPECT_EQ(rank.ending.operations[1].operation, Operation::send);
  EXPECT_EQ(rank.ending.operations[1].peer, 1) << "the group's second rank";
  EXPECT_EQ(rank.ending.operations[1].sequence, 9);
  EXPECT_FALSE(rank.ending.operations[2].may_have_ended);
  EXPECT_EQ(rank.ending.hang_noted, 30'000'000);
  EXPECT_EQ(rank.ending.recorded_until, kUnknownTime);
  ASSERT_THAT(rank.ending.progress, SizeIs(2));
  EXPECT_EQ(rank.ending.progress[1].group, 1U);
  EXPECT_EQ(rank.ending.progress[1].issued, 42);
  EXPECT_EQ(rank.ending.progress[1].ended, 40);
  EXPECT_EQ(rank.ending.doing, "train.py:57 in step");
}

TEST(FlightRecorder, SaysTheSameInBothFormats) {
  json with_texts = dump();
  for (json& status : with_texts["pg_status"])
    for (json& number : status) number = std::to_string(number.get<int>());
  for (const std::string& bytes : {with_texts.dump(), Pickler::pickle(dump())}) {
    EXPECT_TRUE(recognises(std::string_view(bytes).substr(0, 4096)));
    const Result<RankImport> import = read(bytes);
    ASSERT_TRUE(import.ok()) << import.error().message;
    expect_the_dump(import.value());
  }
}

TEST(FlightRecorder, ZeroTimesInJsonAreNone) {
  json all = dump();
  all["entries"][0]["time_discovered_started_ns"] = 0;
  const Result<RankImport> import = read(all.dump());
  ASSERT_TRUE(import.ok());
  EXPECT_THAT(import.value().trace.activities, IsEmpty());
  EXPECT_THAT(import.value().trace.ending.operations, SizeIs(3)) << "it had ended all the same";
}

// PyTorch 2.11 retires what ended, earlier ones tell of no end at all.
TEST(FlightRecorder, GloosOperationsMayHaveEndedWhereNoEndIsTold) {
  json all = dump();
  for (json& one : all["entries"]) {
    one["profiling_name"] = "gloo:all_reduce";
    one["state"] = "scheduled";
  }
  const auto doubtful = [&] {
    const Result<RankImport> import = read(all.dump());
    std::vector<bool> list;
    for (const OpenOperation& operation : import.value().trace.ending.operations)
      list.push_back(operation.may_have_ended);
    return list;
  };
  EXPECT_THAT(doubtful(), ElementsAre(true, true, true, true));
  all["entries"][0]["retired"] = true;
  EXPECT_THAT(doubtful(), ElementsAre(false, false, false));
}

// Who never came may be a rank that nothing here tells of.
TEST(FlightRecorder, WithoutGroupsThatIsSaid) {
  json all = dump();
  all.erase("pg_config");
  const auto codes = [](const RankImport& import) {
    std::vector<std::string> found;
    for (const Warning& warning : import.warnings) found.push_back(warning.code);
    return found;
  };
  EXPECT_THAT(codes(read(all.dump(), "nccl_trace_rank_5").value()),
              testing::Contains("group_members_unknown"));
  EXPECT_THAT(codes(read(dump().dump(), "nccl_trace_rank_5").value()),
              testing::Not(testing::Contains("group_members_unknown")));
  // "nccl:send 0->1" are ranks of the group, and which of the job's they are nobody says.
  const RankImport import = read(all.dump()).value();
  EXPECT_EQ(import.strings.view(import.trace.ending.operations.at(1).name),
            "nccl:send 0->1 (ranks of the group)");
  EXPECT_EQ(import.trace.ending.operations[1].peer, kNoRank);
}

// Gloo's dumps name no members.
TEST(FlightRecorder, MembersAreWhoTellOfTheGroupWhereNobodyNamesThem) {
  json all = dump();
  all["pg_config"] = {{"", {{"name", ""}, {"desc", ""}, {"ranks", "[]"}}}};
  std::vector<RankImport> ranks;
  for (const char* path : {"nccl_trace_rank_5", "nccl_trace_rank_1"})
    ranks.push_back(std::move(read(all.dump(), path)).value());
  const Result<Job> job = merge_ranks("test", std::move(ranks), {}, 0);
  ASSERT_TRUE(job.ok());
  ASSERT_THAT(job.value().groups, SizeIs(1));
  EXPECT_THAT(job.value().groups[0].ranks, ElementsAre(1, 5));
  EXPECT_TRUE(job.value().groups[0].may_have_others);
}

TEST(FlightRecorder, CountsAreGivenToGroupsOnlyWhereTheFileAgreesWithItself) {
  json all = dump();
  for (json& one : all["entries"]) one["pg_id"] = 0;  // contradicts the order of pg_config
  const Result<RankImport> import = read(all.dump());
  ASSERT_TRUE(import.ok());
  ASSERT_THAT(import.value().trace.ending.progress, SizeIs(1));
  EXPECT_EQ(import.value().groups[import.value().trace.ending.progress[0].group].name, "7");
  EXPECT_EQ(import.value().trace.ending.progress[0].issued, 3);
}

TEST(FlightRecorder, OtherFilesAreNotTakenForIt) {
  for (const char* text : {R"({"schemaVersion": 1, "traceEvents": [{"args": {"collective_seq_id": 1}}]})", "",
                           "[]", "{}", R"({"displayTimeUnit": "ms"})", "nccl_version"})
    EXPECT_FALSE(recognises(text)) << text;
}

TEST(FlightRecorder, ErrorsNameTheFileAndWhatIsWrong) {
  EXPECT_THAT(read("").error().message, HasSubstr("nccl_trace_rank_5: the file is empty"));
  EXPECT_THAT(read("{}").error().message, HasSubstr("not a flight recorder's dump"));
  EXPECT_THAT(read(Pickler::pickle(json::array({1, 2}))).error().message,
              HasSubstr("not a flight recorder's dump"));
  EXPECT_THAT(read("\x80\x02"
                   "cos\nsystem\n.")
                  .error()
                  .message,
              HasSubstr("refused"));
  EXPECT_THAT(import_file("/nonexistent/nccl_trace_rank_5").error().message, HasSubstr("can't be opened"));
}

// Of 300 MB it took 1.2 GB.
TEST(FlightRecorder, ATextThatIsLongerThanAnyEndsTheDump) {
  json dumped = dump();
  const std::size_t entries = dumped["entries"].size();
  ASSERT_GT(entries, 1U);
  dumped["entries"][entries - 1]["profiling_name"] = std::string(std::size_t{65} << 20U, 'a');
  const Result<RankImport> import = read(dumped.dump());
  ASSERT_TRUE(import.ok()) << import.error().message;
  ASSERT_THAT(import.value().warnings, SizeIs(1));
  EXPECT_EQ(import.value().warnings[0].code, "file_damaged");
  EXPECT_THAT(import.value().warnings[0].message,
              HasSubstr("is longer than 64 MiB, which nothing in a dump is"));
  // Escaped quotes do not end a text, nor do many short ones make a long one.
  dumped["entries"][entries - 1]["profiling_name"] = std::string(std::size_t{1} << 20U, '"');
  dumped["other"] = json::array();
  for (int i = 0; i < 20; ++i) dumped["other"].push_back(std::string(std::size_t{1} << 20U, '\\'));
  EXPECT_THAT(must(read(dumped.dump())).warnings, testing::IsEmpty());
}

TEST(FlightRecorder, DamagedFilesGiveWhatStandsBefore) {
  const std::string text = dump().dump();
  const std::size_t cut = text.find("nccl:send");
  const Result<RankImport> import = read(text.substr(0, cut));
  ASSERT_TRUE(import.ok()) << import.error().message;
  ASSERT_THAT(import.value().warnings, SizeIs(1));
  EXPECT_EQ(import.value().warnings[0].code, "file_damaged");
  EXPECT_THAT(import.value().warnings[0].message,
              HasSubstr("the 2 records before are used. Collect the file again"))
      << "the third lacks its state: it may have ended";
  EXPECT_THAT(import.value().trace.ending.operations, SizeIs(1));
  json strange = dump();
  strange["entries"].push_back("text");
  strange["entries"].push_back(7);
  const Result<RankImport> mended = read(strange.dump());
  ASSERT_TRUE(mended.ok());
  EXPECT_EQ(mended.value().trace.dropped_events, 2U);
}

// Six megabytes that name one record three million times once cost a gigabyte.
TEST(FlightRecorder, ARecordThatIsNamedManyTimesIsOneRecord) {
  using namespace std::string_literals;
  constexpr int kTimes = 3'000'000;
  std::string pickle = "\x80\x02}(X\7\0\0\0entries]("s;
  pickle += "}(X\x0e\0\0\0profiling_nameX\x0f\0\0\0nccl:all_reduceuq\1"s;
  for (int i = 0; i < kTimes; ++i) pickle += "h\1";
  pickle += "eu.";
  const Result<RankImport> import = read(pickle);
  ASSERT_TRUE(import.ok()) << import.error().message;
  EXPECT_THAT(import.value().trace.ending.operations, SizeIs(1));
  EXPECT_EQ(import.value().trace.dropped_events, kTimes);
  const Warning* const warning = find_warning(import.value().warnings, "events_unreadable");
  ASSERT_NE(warning, nullptr);
  EXPECT_THAT(warning->message, HasSubstr("no records of their own and left out"));
}

// A list of frames that many records name is looked at once for each, up to a bound for all.
TEST(FlightRecorder, WorkIsBoundedWhateverIsShared) {
  using namespace std::string_literals;
  constexpr int kFrames = 100'000, kRecords = 20'000;
  std::string pickle = "\x80\x02}(X\7\0\0\0entries]("s;
  pickle += "](}q\2"s;
  for (int i = 1; i < kFrames; ++i) pickle += "h\2";
  pickle += "eq\1";  // the list of frames, an element that is no record
  for (int i = 0; i < kRecords; ++i) pickle += "}(X\6\0\0\0framesh\1u"s;
  pickle += "eu.";
  Document document;
  EXPECT_FALSE(read_pickle(std::as_bytes(std::span(pickle.data(), pickle.size())), document).has_value());
  const std::optional<Dump> dump = read_dump(document, false);
  ASSERT_TRUE(dump.has_value());
  EXPECT_LT(dump->entries.size(), kRecords);
  EXPECT_EQ(dump->entries.size() + dump->unreadable, kRecords + 1);
  EXPECT_LT(document.looked_at(), std::uint64_t{1} << 30U);
}

TEST(FlightRecorder, JsonOfTooManyValuesIsReadUpToABound) {
  std::string text = R"({"entries": [{"profiling_name": "nccl:all_reduce"}, {"profiling_name": "x"})";
  for (std::size_t i = 0; i < kMaxValues; ++i) text += ",0";
  const Result<RankImport> import = read(text + "]}");
  ASSERT_TRUE(import.ok()) << import.error().message;
  const Warning* const warning = find_warning(import.value().warnings, "file_damaged");
  ASSERT_NE(warning, nullptr);
  EXPECT_THAT(warning->message, HasSubstr("too many values for a flight recorder's dump"));
}

TEST(FlightRecorder, LongNamesAreShortened) {
  json dump = {{"entries", {{{"profiling_name", std::string(40'000'000, 'n')}}}}};
  const Result<RankImport> import = read(dump.dump());
  ASSERT_TRUE(import.ok()) << import.error().message;
  ASSERT_THAT(import.value().trace.ending.operations, SizeIs(1));
  EXPECT_EQ(import.value().strings.view(import.value().trace.ending.operations[0].name),
            std::string(512, 'n'));
}

TEST(FlightRecorder, GzipIsRead) {
  const TemporaryFolder folder;
  const std::string path = folder.write("nccl_trace_rank_5.gz", gzip(Pickler::pickle(dump())));
  const Result<RankImport> import = import_file(path);
  ASSERT_TRUE(import.ok()) << import.error().message;
  expect_the_dump(import.value());
}

// Whatever a file holds, what comes of it can be merged and analyzed.
TEST(FlightRecorder, MutationsGiveAnErrorOrARank) {
  for (const std::string& bytes : {Pickler::pickle(dump()), dump().dump()}) {
    std::mt19937_64 random(11);
    for (int i = 0; i < 5'000; ++i) {
      std::string mutated = bytes;
      for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes)
        mutated[random() % mutated.size()] = static_cast<char>(random());
      if (random() % 4 == 0) mutated.resize(random() % mutated.size());
      const Result<RankImport> import = read(mutated);
      if (!import.ok()) continue;
      const RankImport& rank = import.value();
      for (const OpenOperation& operation : rank.trace.ending.operations) {
        ASSERT_TRUE(operation.group == kNone || operation.group < rank.groups.size());
        ASSERT_LT(operation.name, rank.strings.size());
        ASSERT_TRUE(operation.begin >= -kLatest && operation.begin <= kLatest);
      }
      for (const Activity& activity : rank.trace.activities) ASSERT_LE(activity.begin, activity.end);
    }
  }
}

}  // namespace
}  // namespace lockstep::analyzer::flight_recorder

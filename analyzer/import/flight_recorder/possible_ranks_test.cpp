// Whose dump it is: what it holds counts before its name.
#include "analyzer/import/flight_recorder/possible_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "analyzer/import/flight_recorder/flight_recorder.h"
#include "analyzer/import/rank/merge.h"

namespace lockstep::analyzer::flight_recorder {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Entry message(const char* name, const char* group) {
  Entry entry;
  entry.name = name;
  entry.group = group;
  entry.is_message = true;
  return entry;
}

TEST(PossibleRanks, AreMembersOfAllGroups) {
  Dump dump;
  EXPECT_THAT(possible_ranks(dump, false), IsEmpty());
  dump.groups = {{"0", "default_pg", "[0, 1, 2, 3, 4, 5, 6, 7]"}, {"1", "tp", "[5, 4]"}, {"2", "", ""}};
  EXPECT_THAT(possible_ranks(dump, false), ElementsAre(4, 5));
  dump.groups.push_back({"3", "dp", "[1, 5]"});
  EXPECT_THAT(possible_ranks(dump, false), ElementsAre(5));
  dump.groups.push_back({"4", "other", "[0, 1]"});
  EXPECT_THAT(possible_ranks(dump, false), IsEmpty()) << "it contradicts itself";
}

TEST(PossibleRanks, MessagesTellThePlaceInTheirGroup) {
  Dump dump;
  dump.groups = {{"0", "default_pg", "[0, 1, 2, 3, 4, 5, 6, 7]"}, {"1", "pp", "[1, 3, 5, 7]"}};
  dump.entries = {message("nccl:recv 2<-1", "1")};
  EXPECT_THAT(possible_ranks(dump, false), ElementsAre(5));
  dump.entries = {message("nccl:send 3->0", "1")};
  EXPECT_THAT(possible_ranks(dump, false), ElementsAre(7));
  for (const char* name : {"nccl:send", "->1", "nccl:send ->1", "nccl:send 9->1", "nccl:send x->1"}) {
    dump.entries = {message(name, "1")};
    EXPECT_THAT(possible_ranks(dump, false), ElementsAre(1, 3, 5, 7)) << name;
  }
  dump.entries = {message("nccl:recv 2<-1", "1"), message("nccl:recv 1<-2", "1")};
  EXPECT_THAT(possible_ranks(dump, false), ElementsAre(1, 3, 5, 7)) << "they contradict each other";
}

TEST(PossibleRanks, ListsOfDamagedDumpsMayLackTheirEnd) {
  Dump dump;
  dump.groups = {{"0", "default_pg", "[0, 1, 2]"}, {"1", "tp", "0,1"}};
  EXPECT_THAT(possible_ranks(dump, false), ElementsAre(0, 1));
  EXPECT_THAT(possible_ranks(dump, true), ElementsAre(0, 1, 2));
}

// A dump in a group of ranks 8 and 9 that waits in a collective of it, under this name.
Result<RankImport> dump_named(const char* path, const char* message = nullptr) {
  json entry = {{"pg_id", 1},
                {"process_group", {"39", "TENSOR_MODEL_PARALLEL_GROUP"}},
                {"collective_seq_id", 7},
                {"profiling_name", "nccl:all_reduce"},
                {"time_created_ns", 1'758'610'505'000'000'000},
                {"state", "scheduled"}};
  json all = {{"version", "2.9"},
              {"pg_config",
               {{"0", {{"name", "0"}, {"desc", "default_pg"}, {"ranks", "[6, 7, 8, 9]"}}},
                {"39", {{"name", "39"}, {"desc", "TENSOR_MODEL_PARALLEL_GROUP"}, {"ranks", "[8, 9]"}}}}},
              {"entries", {entry}}};
  if (message != nullptr) {
    entry["profiling_name"] = message;
    entry["is_p2p"] = true;
    all["entries"].push_back(entry);
  }
  const std::string bytes = all.dump();
  return import_bytes(std::as_bytes(std::span(bytes.data(), bytes.size())), path);
}

std::string said(const std::vector<Warning>& warnings, const std::string& code) {
  for (const Warning& warning : warnings)
    if (warning.code == code) return warning.message;
  return "";
}

Job job_of(std::vector<RankImport> imports) {
  return merge_ranks("test", std::move(imports), {}, 0).value();
}

TEST(RankOfADump, ANameThatTheDumpAgreesWithIsBelieved) {
  const RankImport import = dump_named("nccl_trace_rank_9").value();
  EXPECT_TRUE(import.rank_known);
  EXPECT_EQ(import.trace.rank, 9);
  EXPECT_THAT(import.warnings, IsEmpty());
}

TEST(RankOfADump, ANameThatTheDumpContradictsIsNotBelievedAndThatIsSaid) {
  const RankImport settled = dump_named("_dump_3", "nccl:recv 1<-0").value();
  EXPECT_TRUE(settled.rank_known);
  EXPECT_EQ(settled.trace.rank, 9);
  EXPECT_THAT(said(settled.warnings, "rank_contradicted"),
              HasSubstr("_dump_3: its name says rank 3, but by its groups and messages it is of rank 9: the "
                        "name is not believed"));

  const RankImport open = dump_named("_dump_3").value();
  EXPECT_FALSE(open.rank_known);
  std::vector<RankImport> alone;
  alone.push_back(open);
  const Job job = job_of(std::move(alone));
  EXPECT_EQ(job.ranks.at(0).rank, 8);
  EXPECT_THAT(said(job.warnings, "rank_contradicted"), HasSubstr("it is of one of ranks 8, 9"));
  EXPECT_THAT(
      said(job.warnings, "rank_unknown"),
      HasSubstr("its groups say that it is rank 8 or 9, and its name does not say which of them; taken "
                "as rank 8"));

  std::vector<RankImport> beside;
  beside.push_back(open);
  beside.push_back(dump_named("_dump_9").value());
  const Job two = job_of(std::move(beside));
  ASSERT_EQ(two.ranks.size(), 1u);
  EXPECT_EQ(two.ranks[0].rank, 9);
  EXPECT_THAT(said(two.warnings, "rank_unknown"), AllOf(HasSubstr("rank 8 or 9"), HasSubstr("left out")));
}

// Some programs list groups of other ranks, too. The name counts that the recorder itself gives; what the
// rank did counts before it.
TEST(RankOfADump, TheRecordersOwnNameCountsMoreThanGroupsThatAreMerelyListed) {
  Dump dump;
  dump.groups = {{"0", "default_pg", "[0, 1, 2, 3]"}, {"5", "pp", "[2, 3]"}};
  Entry entry;
  entry.name = "nccl:all_reduce";
  entry.group = "0";
  dump.entries = {entry};
  EXPECT_TRUE(calls_may_be_of(dump, false, 0));
  EXPECT_FALSE(calls_may_be_of(dump, false, 4)) << "no group has it";
  dump.entries.push_back(message("nccl:recv 1<-0", "5"));
  EXPECT_FALSE(calls_may_be_of(dump, false, 0));
  EXPECT_FALSE(calls_may_be_of(dump, false, 2)) << "by the message it is 3";
  EXPECT_TRUE(calls_may_be_of(dump, false, 3));

  const json all = {{"version", "2.9"},
                    {"pg_config",
                     {{"0", {{"name", "0"}, {"desc", "default_pg"}, {"ranks", "[0, 1, 2, 3]"}}},
                      {"5", {{"name", "5"}, {"desc", "pp"}, {"ranks", "[2, 3]"}}}}},
                    {"entries",
                     {{{"pg_id", 0},
                       {"process_group", {"0", "default_pg"}},
                       {"collective_seq_id", 7},
                       {"profiling_name", "nccl:all_reduce"},
                       {"time_created_ns", 1'758'610'505'000'000'000},
                       {"state", "scheduled"}}}}};
  const std::string bytes = all.dump();
  for (const auto& [path, known] : std::map<const char*, bool>{{"comm_lib_trace_rank_0", true},
                                                               {"run/nccl_trace_rank_0.gz", true},
                                                               {"_dump_0", false},
                                                               {"comm_lib_trace_rank_4", false},
                                                               {"comm_lib_trace_rank_0b", false}}) {
    const RankImport import =
        import_bytes(std::as_bytes(std::span(bytes.data(), bytes.size())), path).value();
    EXPECT_EQ(import.rank_known, known) << path;
    if (known) {
      EXPECT_EQ(import.trace.rank, 0) << path;
      EXPECT_THAT(import.warnings, IsEmpty()) << path;
    }
  }
}

TEST(RankOfADump, WithoutANumberTheDumpTells) {
  const RankImport settled = dump_named("foo", "nccl:send 1->0").value();
  EXPECT_TRUE(settled.rank_known);
  EXPECT_EQ(settled.trace.rank, 9);
  EXPECT_THAT(settled.warnings, IsEmpty());
  std::vector<RankImport> alone;
  alone.push_back(dump_named("foo").value());
  const Job job = job_of(std::move(alone));
  EXPECT_EQ(job.ranks.at(0).rank, 8);
  EXPECT_THAT(said(job.warnings, "rank_unknown"), HasSubstr("rank 8 or 9"));
}

}  // namespace
}  // namespace lockstep::analyzer::flight_recorder

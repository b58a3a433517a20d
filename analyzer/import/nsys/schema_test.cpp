// Reports that lack tables, columns or rows: what is refused, and what is said of the rest.
#include "analyzer/import/nsys/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "analyzer/import/nsys/nsys.h"
#include "analyzer/import/nsys/report_file.h"
#include "analyzer/import/test_files.h"

namespace lockstep::analyzer::nsys {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr int kProcess = 144;
constexpr int kThread = 7;
constexpr const char* kCommunication = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)";

class Schema : public testing::Test {
 protected:
  // One rank: a kernel, an all-reduce, a copy; then what the test does to it.
  void write_report(const std::string& sql) {
    ReportFile report(path_);
    report.add_tables();
    report.range(50, 900, kProcess, kThread, "step 3");
    for (const int correlation : {41, 42, 43})
      report.launch(correlation, correlation + 1, kProcess, kThread, correlation);
    report.kernel(200, 500, kProcess, 0, 7, 41, "gemm");
    report.kernel(500, 600, kProcess, 0, 13, 42, kCommunication);
    report.run("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (700, 800, 0, 1, 7, 43, " +
               std::to_string(ReportFile::process(kProcess)) + ", 4096, 1)");
    report.run(sql);
  }
  // As a newer schema that calls a column otherwise.
  void rename(const std::string& table, const std::string& column) {
    write_report("ALTER TABLE " + table + " RENAME COLUMN " + column + " TO " + column + "2");
  }
  std::string error() const {
    const Result<std::vector<RankImport>> ranks = import_file(path_);
    EXPECT_FALSE(ranks.ok());
    return ranks.ok() ? "" : ranks.error().message;
  }
  RankImport read() const {
    std::vector<RankImport> ranks = must(import_file(path_));
    EXPECT_THAT(ranks, SizeIs(1));
    return std::move(ranks.front());
  }
  std::string warning(const char* code = "table_missing") const {
    const RankImport rank = read();
    EXPECT_THAT(rank.warnings, SizeIs(1));
    const Warning* const found = find_warning(rank.warnings, code);
    EXPECT_NE(found, nullptr) << code;
    return found == nullptr ? "" : found->message;
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_ / "report.sqlite";
};

TEST_F(Schema, WithAllTablesNothingIsSaid) {
  write_report("");
  EXPECT_THAT(read().warnings, IsEmpty());
}

TEST_F(Schema, WithoutKernelsNothingIsComputed) {
  write_report("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL");
  EXPECT_EQ(error(),
            path_ +
                ": no kernels could be read (table CUPTI_ACTIVITY_KIND_KERNEL is missing), so that "
                "neither computation nor communication is known. If some ran, export the report again "
                "(`nsys export --type sqlite`), or record with `nsys profile --trace=cuda,nvtx`");
}

TEST_F(Schema, AnEmptyTableOfKernelsIsAsNone) {
  write_report("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL");
  EXPECT_THAT(error(), HasSubstr("(table CUPTI_ACTIVITY_KIND_KERNEL is empty)"));
}

// SQLite keeps text in a column of integers, and reads it as 0 or as the digits that it begins with: a kernel
// would last 200 times as long, in silence.
TEST_F(Schema, TextWhereATimeShouldStandIsRefused) {
  struct Case {
    const char* sql;
    const char* said;
  };
  for (const auto& [sql, said] : {
           Case{"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = '200 ns' WHERE start = 200",
                "table CUPTI_ACTIVITY_KIND_KERNEL, column start, row 1: the text \"200 ns\" where a whole "
                "number should stand"},
           Case{"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 'later' WHERE start = 500",
                "table CUPTI_ACTIVITY_KIND_KERNEL, column end, row 2: the text \"later\""},
           Case{"UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET start = 0.0007",
                "table CUPTI_ACTIVITY_KIND_MEMCPY, column start, row 1: 0.0007 where"},
           Case{"UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET end = x'00ff' WHERE correlationId = 43",
                "table CUPTI_ACTIVITY_KIND_RUNTIME, column end, row 3: a blob where"},
           Case{"UPDATE NVTX_EVENTS SET start = 'fifty'",
                "table NVTX_EVENTS, column start, row 1: the text \"fifty\""},
       }) {
    std::filesystem::remove(path_);
    write_report(sql);
    EXPECT_THAT(error(), AllOf(StartsWith(path_ + ": table "), HasSubstr(said), HasSubstr("nsys export")))
        << sql;
  }
}

// Nor does it keep NULL out of a table that says NOT NULL in newer schemas alone: it would read as 0, and a
// kernel would last since the report's begin.
TEST_F(Schema, NothingWhereATimeOrADeviceShouldStandIsRefused) {
  for (const char* column : {"start", "deviceId", "globalPid"})
    for (const char* table : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY"}) {
      std::filesystem::remove(path_);
      const std::string name = table, other = name + "_2";
      write_report("CREATE TABLE " + other + " AS SELECT * FROM " + name + "; DROP TABLE " + name +
                   "; ALTER TABLE " + other + " RENAME TO " + name + "; UPDATE " + name + " SET " + column +
                   " = NULL WHERE rowid = 1");
      EXPECT_THAT(error(), AllOf(HasSubstr("table " + name + ", column " + column + ", row 1: nothing where"),
                                 HasSubstr("nsys export")))
          << name;
    }
}

// A graph that was traced as a whole shows no kernels.
TEST_F(Schema, GraphsStandForTheirKernels) {
  write_report(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL;"
      "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL");
  const RankImport rank = read();
  ASSERT_THAT(rank.trace.activities, SizeIs(3));
  EXPECT_EQ(rank.trace.activities[0].activity_class, Class::unclassified);
  EXPECT_THAT(rank.warnings, IsEmpty());
}

TEST_F(Schema, KernelsWithoutTimesOrDeviceAreRefused) {
  for (const char* column : {"start", "end", "deviceId"}) {
    std::filesystem::remove(path_);
    rename("CUPTI_ACTIVITY_KIND_KERNEL", column);
    EXPECT_THAT(
        error(),
        AllOf(HasSubstr("no kernels could be read (table CUPTI_ACTIVITY_KIND_KERNEL lacks the column "),
              HasSubstr(column)));
  }
}

TEST_F(Schema, WithoutNamesComputationAndCommunicationAreNotTold) {
  write_report("DROP TABLE StringIds");
  EXPECT_EQ(error(),
            path_ +
                ": kernels without names (table StringIds is missing): computation and communication "
                "can't be told apart; export the report again (`nsys export --type sqlite`)");
}

TEST_F(Schema, NamesMayBeMissingInOtherWays) {
  write_report("DELETE FROM StringIds");
  EXPECT_THAT(error(), HasSubstr("(table StringIds is empty)"));
  std::filesystem::remove(path_);
  rename("StringIds", "value");
  EXPECT_THAT(error(), HasSubstr("(table StringIds lacks the column value)"));
  std::filesystem::remove(path_);
  write_report("UPDATE StringIds SET id = id + 1000");
  EXPECT_THAT(error(), HasSubstr("(table StringIds has none of their names)"));
  std::filesystem::remove(path_);
  write_report(
      "INSERT INTO StringIds VALUES (0, 'GpuMetrics');ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN "
      "demangledName;ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN shortName");
  EXPECT_THAT(error(), HasSubstr("lacks the columns demangledName and shortName"));
}

TEST_F(Schema, AKernelWithoutANameIsOfNoClass) {
  write_report(std::string("DELETE FROM StringIds WHERE value = '") + kCommunication + "'");
  const RankImport rank = read();
  EXPECT_EQ(rank.trace.activities.at(0).activity_class, Class::compute);
  EXPECT_EQ(rank.trace.activities.at(1).activity_class, Class::unclassified);
  EXPECT_EQ(rank.strings.view(rank.trace.activities[1].name), "kernel without a name");
  EXPECT_THAT(warning("kernels_without_name"), HasSubstr("1 kernel is without a name in table StringIds"));
}

TEST_F(Schema, TheShortNameStandsInForTheFullOne) {
  write_report("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 9999");
  const RankImport rank = read();
  EXPECT_EQ(rank.trace.activities.at(1).activity_class, Class::collective);
  EXPECT_THAT(rank.warnings, IsEmpty());
}

TEST_F(Schema, WithoutLaunchesItSaysWhatIsNotKnown) {
  write_report("DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME");
  EXPECT_THAT(warning(), HasSubstr("table CUPTI_ACTIVITY_KIND_RUNTIME is missing: launches are not known"));
  EXPECT_EQ(read().trace.activities.at(0).launch_begin, kUnknownTime);
  for (const char* column : {"start", "end", "globalTid", "correlationId", "nameId"}) {
    std::filesystem::remove(path_);
    rename("CUPTI_ACTIVITY_KIND_RUNTIME", column);
    EXPECT_THAT(warning(), HasSubstr(std::string("lacks the column ") + column + ": launches are not known"));
  }
  std::filesystem::remove(path_);
  write_report("DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME");
  EXPECT_THAT(warning(), HasSubstr("table CUPTI_ACTIVITY_KIND_RUNTIME is empty"));
}

TEST_F(Schema, WithoutRangesItSaysWhatIsNotKnown) {
  write_report("DROP TABLE NVTX_EVENTS");
  EXPECT_THAT(warning(),
              HasSubstr("table NVTX_EVENTS is missing: steps are not known, and collectives go by"));
  EXPECT_THAT(read().trace.steps, IsEmpty());
  std::filesystem::remove(path_);
  rename("NVTX_EVENTS", "eventType");
  EXPECT_THAT(warning(), HasSubstr("table NVTX_EVENTS lacks the column eventType"));
}

TEST_F(Schema, WithoutThatColumnOfKernelsItSaysWhatIsNotKnown) {
  const std::pair<const char*, const char*> columns[] = {
      {"streamId", "streams of a device can't be told apart"},
      {"globalPid", "processes on a device can't be told apart"},
      {"correlationId", "can't be joined with their launches"}};
  for (const auto& [column, lost] : columns) {
    std::filesystem::remove(path_);
    rename("CUPTI_ACTIVITY_KIND_KERNEL", column);
    const RankImport rank = read();
    EXPECT_EQ(rank.trace.activities.at(0).end, 500);
    EXPECT_THAT(warning(), AllOf(HasSubstr(std::string("lacks the column ") + column), HasSubstr(lost)));
  }
}

// On which device they were nobody can say: better none than all on device 0.
TEST_F(Schema, CopiesWithoutADeviceAreLeftOut) {
  rename("CUPTI_ACTIVITY_KIND_MEMCPY", "deviceId");
  EXPECT_THAT(read().trace.activities, SizeIs(2));
  EXPECT_THAT(warning(),
              HasSubstr("table CUPTI_ACTIVITY_KIND_MEMCPY lacks the column deviceId: copies are left out"));
}

TEST_F(Schema, CopiesOfNoProcessAreSaid) {
  rename("CUPTI_ACTIVITY_KIND_MEMCPY", "globalPid");
  EXPECT_THAT(read().trace.activities, SizeIs(2));
  EXPECT_THAT(warning(),
              HasSubstr("table CUPTI_ACTIVITY_KIND_MEMCPY lacks the column globalPid: what it holds is "
                        "of no known process, and left out"));
}

TEST_F(Schema, RangesWhoseNamesAreMissingAreCounted) {
  rename("NVTX_EVENTS", "textId");
  EXPECT_THAT(read().warnings, IsEmpty()) << "all names stand in the other column";
  std::filesystem::remove(path_);
  write_report(
      "INSERT INTO StringIds VALUES (0, 'step 9'); ALTER TABLE NVTX_EVENTS RENAME COLUMN text TO text2");
  EXPECT_THAT(read().trace.steps, IsEmpty()) << "no number is not the number 0";
  EXPECT_THAT(warning(), HasSubstr("table NVTX_EVENTS lacks the column text: 1 range is without a name"));
}

class CutReport : public Schema {
 protected:
  static constexpr int kKernels = 4000;
  // Kernels are what comes last.
  std::string whole() {
    {
      ReportFile report(path_);
      report.add_tables();
      report.launch(1, 2, kProcess, kThread, 1);
      report.range(1, 2, kProcess, kThread, "step 1");
      report.run("BEGIN");
      for (int i = 0; i < kKernels; ++i) report.kernel(10 * i, 10 * i + 5, kProcess, 0, 7, i + 1, "gemm");
      report.run("COMMIT");
    }
    std::ifstream file(path_, std::ios::binary);
    return {(std::istreambuf_iterator<char>(file)), {}};
  }
};

TEST_F(CutReport, GivesWhatStandsBeforeTheCut) {
  const std::string bytes = whole();
  folder_.write("report.sqlite", bytes.substr(0, bytes.size() * 3 / 4));
  const RankImport rank = read();
  EXPECT_GT(rank.trace.activities.size(), 0u);
  EXPECT_LT(rank.trace.activities.size(), static_cast<std::size_t>(kKernels));
  EXPECT_EQ(rank.trace.dropped_events, 0u) << "no rows are made of half a page";
  ASSERT_THAT(rank.trace.lost, SizeIs(1));
  const Nanoseconds lost_from = rank.trace.lost[0].begin;
  EXPECT_EQ(rank.trace.lost[0].end, kLatest);
  EXPECT_EQ(rank.trace.activities.back().end, lost_from - 5) << "the one before the last that was read";
  const Warning* const warning = find_warning(rank.warnings, "file_damaged");
  ASSERT_NE(warning, nullptr);
  EXPECT_THAT(warning->message, AllOf(StartsWith(path_ + ": the file is cut: it has "),
                                      HasSubstr("of " + std::to_string(bytes.size()) + " bytes"),
                                      HasSubstr("Export the report again")));
}

TEST_F(CutReport, RowsInNoOrderOfTimeAreAllUncertain) {
  whole();
  {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    sqlite3_exec(database, "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 40001, end = 40002 WHERE start = 0",
                 nullptr, nullptr, nullptr);
    sqlite3_close(database);
  }
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) * 3 / 4);
  const RankImport rank = read();
  ASSERT_THAT(rank.trace.lost, SizeIs(1));
  EXPECT_EQ(rank.trace.lost[0].begin, -kLatest);
}

// A report whose damage is elsewhere has lost nothing of what devices did.
TEST_F(CutReport, DamageOfOtherTablesIsNoLossOfKernels) {
  {
    ReportFile report(path_);
    report.add_tables();
    report.launch(1, 2, kProcess, kThread, 1);
    report.kernel(10, 20, kProcess, 0, 7, 1, "gemm");
    report.run("BEGIN");
    for (int i = 0; i < kKernels; ++i) report.range(i, i + 1, kProcess, kThread, "step " + std::to_string(i));
    report.run("COMMIT");
  }
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) * 3 / 4);
  const RankImport rank = read();
  EXPECT_THAT(rank.trace.activities, SizeIs(1));
  EXPECT_THAT(rank.trace.lost, IsEmpty());
  EXPECT_GT(rank.trace.steps.size(), 0u);
  EXPECT_NE(find_warning(rank.warnings, "file_damaged"), nullptr);
}

TEST_F(CutReport, GzipThatIsCutGivesItsBeginning) {
  const std::string packed = gzip(whole());
  const std::string path = folder_.write("cut.sqlite.gz", packed.substr(0, packed.size() * 3 / 4));
  const std::vector<RankImport> ranks = must(import_file(path));
  ASSERT_THAT(ranks, SizeIs(1));
  EXPECT_LT(ranks[0].trace.activities.size(), static_cast<std::size_t>(kKernels));
  EXPECT_THAT(find_warning(ranks[0].warnings, "file_damaged")->message, HasSubstr("the file is cut"));
}

TEST_F(CutReport, AFileCutInItsSchemaSaysWhatToDo) {
  const std::string bytes = whole();
  folder_.write("report.sqlite", bytes.substr(0, 2000));
  EXPECT_THAT(error(),
              HasSubstr("report.sqlite: the SQLite file is damaged (database disk image is malformed): "
                        "export it again"));
}

}  // namespace
}  // namespace lockstep::analyzer::nsys

// The SQLite and CSV exports against the job that they show.
#include "analyzer/export/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <set>
#include <sstream>

#include "analyzer/export/export.h"
#include "analyzer/export/sample_job.h"
#include "analyzer/report/measure_fields.h"
#include "tests/temporary_folder.h"

namespace lockstep::analyzer {
namespace {

using test::read_whole_file;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::string_literals;

using Rows = std::vector<std::vector<std::string>>;

// Every value as text; NULL as "NULL".
Rows query(const std::filesystem::path& path, const char* sql) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(database, sql, -1, &statement, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  Rows rows;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    rows.emplace_back();
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
      rows.back().push_back(
          text == nullptr ? "NULL"
                          : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, i))));
    }
  }
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return rows;
}

class SqliteExport : public testing::Test {
 protected:
  void SetUp() override {
    const SampleJob sample = sample_job();
    const Status status = write_sqlite(sample.job, sample.analysis, path_);
    ASSERT_TRUE(status.ok()) << status.error().message;
  }
  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "a.sqlite";
};

TEST_F(SqliteExport, HoldsTheJob) {
  EXPECT_THAT(query(path_, "PRAGMA integrity_check"), ElementsAre(ElementsAre("ok")));
  // Times are relative to the report's origin, 1000.
  EXPECT_THAT(query(path_,
                    "SELECT rank, activity, name, class, begin_ns, end_ns, launch_begin_ns, step, "
                    "communication, layer, microbatch, pass FROM activities_named ORDER BY rank, activity "
                    "LIMIT 2"),
              ElementsAre(ElementsAre("0", "0", "matmul", "compute", "0", "1000", "-100", "12", "NULL", "2",
                                      "1", "forward"),
                          ElementsAre("0", "1", "ncclKernel", "collective", "500", "2000", "NULL", "12", "0",
                                      "NULL", "NULL", "NULL")));
  EXPECT_THAT(query(path_, "SELECT count(*) FROM activities"), ElementsAre(ElementsAre("6")));
  EXPECT_THAT(query(path_, "SELECT rank, lane, kind, handle, name FROM lanes WHERE rank = 3 AND lane < 2"),
              ElementsAre(ElementsAre("3", "0", "device_stream", "7", "stream 7"),
                          ElementsAre("3", "1", "communication", "8", "gloo, \"ring\"")));
  EXPECT_THAT(query(path_,
                    "SELECT collective, operation, group_name, sequence, bytes, dtype, peer "
                    "FROM communications_named WHERE rank = 3"),
              ElementsAre(ElementsAre("9", "all_reduce", "dp \"0\"", "5", "4096", "float32", "NULL")));
}

TEST_F(SqliteExport, HoldsTheReport) {
  EXPECT_THAT(
      query(
          path_,
          "SELECT collective, step, group_ranks, last_arriver, algbw_gbps, busbw_wire_gbps FROM collectives"),
      ElementsAre(ElementsAre("9", "12", "0,3", "3", "NULL", "4.096")));
  EXPECT_THAT(query(path_, "SELECT rank, wait_ns, operation FROM waits ORDER BY rank"),
              ElementsAre(ElementsAre("0", "500", "all_reduce"), ElementsAre("3", "0", "all_reduce")));
  EXPECT_THAT(query(path_, "SELECT rank, cause, ns FROM causes WHERE step = 12 AND ns > 0 ORDER BY rank, ns"),
              ElementsAre(ElementsAre("0", "transfer", "500"), ElementsAre("0", "compute", "1500"),
                          ElementsAre("3", "queued", "1"), ElementsAre("3", "compute", "999"),
                          ElementsAre("3", "transfer", "1001")));
  EXPECT_THAT(query(path_, "SELECT cause, share FROM rank_causes WHERE rank = 0 AND ns > 0"),
              ElementsAre(ElementsAre("compute", "0.75"), ElementsAre("transfer", "0.25")));
  EXPECT_THAT(query(path_, "SELECT sum(end_ns - begin_ns) FROM segments GROUP BY rank ORDER BY rank"),
              ElementsAre(ElementsAre("2000"), ElementsAre("2001")));
  EXPECT_THAT(query(path_, "SELECT value FROM metadata WHERE key IN ('schema', 'origin_ns') ORDER BY key"),
              ElementsAre(ElementsAre("1700000000000001000"), ElementsAre("lockstep.export/1")));
  EXPECT_THAT(query(path_, "SELECT code, rank FROM warnings WHERE code NOT LIKE 'absent%'"),
              ElementsAre(ElementsAre("rank_missing", "NULL")));
  EXPECT_THAT(query(path_, "SELECT count(*) FROM warnings WHERE code = 'absent_overlap_ratio'"),
              ElementsAre(ElementsAre("1")));
  EXPECT_THAT(query(path_, "SELECT overlap_ratio, host FROM ranks WHERE rank = 3"),
              ElementsAre(ElementsAre("NULL", "node-a")));
}

TEST_F(SqliteExport, HoldsTheSummariesAndTheCounters) {
  EXPECT_THAT(
      query(path_, "SELECT operation, group_ranks, bytes, bytes_per_step_and_rank, wait_ns FROM groups"),
      ElementsAre(ElementsAre("all_reduce", "0,3", "4096", "NULL", "500")));
  EXPECT_THAT(
      query(path_, "SELECT group_name, microbatches, bubble_ns, bubble_ratio_ideal, reason FROM pipelines"),
      ElementsAre(ElementsAre("pp, 0", "4", "1000", "NULL",
                              "its schedule is unknown: its microbatches are not numbered")));
  EXPECT_THAT(
      query(path_, "SELECT stage, rank, layers, bubble_ns, warm_up_ns FROM pipeline_stages"),
      ElementsAre(ElementsAre("0", "0", "0,1", "500", "1"), ElementsAre("1", "3", "NULL", "500", "NULL")));
  EXPECT_THAT(query(path_, "SELECT layer, name, pass, max_ns, slowest_rank FROM layers"),
              ElementsAre(ElementsAre("2", "layer 2", "forward", "1000", "0")));
  EXPECT_THAT(query(path_, "SELECT rank, name, time_ns, value FROM counters_named"),
              ElementsAre(ElementsAre("0", "memory \"peak\"", "-100", "1500000000.0"),
                          ElementsAre("0", "memory \"peak\"", "1600", "2500000000.0")));
}

TEST_F(SqliteExport, KeepsEveryByteOfAName) {
  EXPECT_THAT(query(path_, "SELECT name FROM host_ranges_named WHERE kind = 'data_loading'"),
              ElementsAre(ElementsAre("data, \"load\"\r\n\xFE"s)));
}

TEST_F(SqliteExport, EveryTableIsDescribedInTheDocumentation) {
  const std::string text = read_whole_file(std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "docs/export.md");
  // The columns of measures are those of docs/metrics.md and docs/measures/: measure_fields_test.
  EXPECT_THAT(text, HasSubstr("[metrics.md](metrics.md#the-json-document) lists as MEASURES"));
  std::set<std::string> measures;
  for (const MeasureField& field : measure_fields()) measures.insert(field.key);
  for (const TableDefinition& table : table_definitions()) {
    EXPECT_THAT(text, HasSubstr("`"s + table.name + "`"));
    for (const TableColumn& column : table.columns) {
      if (measures.contains(column.name)) continue;
      EXPECT_THAT(text, HasSubstr("`"s + column.name + "`")) << table.name;
    }
  }
  for (const auto& view : query(path_, "SELECT name FROM sqlite_master WHERE type = 'view'")) {
    EXPECT_THAT(text, HasSubstr("`" + view[0] + "`"));
  }
}

TEST(SqliteExportErrors, NameTheFile) {
  const Status status = write_sqlite({}, {}, "/nonexistent/a.sqlite");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("cannot write /nonexistent/a.sqlite"));
}

// RFC 4180, read strictly.
Rows parse_csv(const std::string& text) {
  Rows rows(1);
  std::size_t i = 0;
  while (i < text.size()) {
    std::string field;
    if (text[i] == '"') {
      for (++i; i < text.size(); ++i) {
        if (text[i] != '"') {
          field += text[i];
        } else if (i + 1 < text.size() && text[i + 1] == '"') {
          field += text[++i];
        } else {
          break;
        }
      }
      EXPECT_LT(i++, text.size()) << "quote without an end";
    } else {
      while (i < text.size() && text[i] != ',' && text[i] != '\r') field += text[i++];
      EXPECT_EQ(field.find_first_of("\"\n"), std::string::npos) << field;
    }
    rows.back().push_back(field);
    if (i < text.size() && text[i] == ',') {
      ++i;
      continue;
    }
    EXPECT_EQ(text.substr(i, 2), "\r\n");
    i += 2;
    if (i < text.size()) rows.emplace_back();
  }
  return rows;
}

TEST(CsvExport, WritesEveryTableSoThatItReadsBack) {
  const TemporaryFolder folder;
  const SampleJob sample = sample_job();
  const Status status = write_csv(sample.job, sample.analysis, folder / "tables", Overwrite::refuse);
  ASSERT_TRUE(status.ok()) << status.error().message;
  for (const TableDefinition& table : table_definitions()) {
    const Rows rows =
        parse_csv(read_whole_file(folder.path() / "tables" / (std::string(table.name) + ".csv")));
    ASSERT_FALSE(rows.empty()) << table.name;
    for (const auto& row : rows) EXPECT_EQ(row.size(), table.columns.size()) << table.name;
    std::size_t count = 0;
    table.rows(sample.job, sample.analysis, [&](std::span<const Value>) { return ++count > 0; });
    EXPECT_EQ(rows.size(), count + 1) << table.name;
  }
  const Rows ranges = parse_csv(read_whole_file(folder / "tables/host_ranges.csv"));
  EXPECT_THAT(ranges[2],
              ElementsAre("0", "2", "data, \"load\"\r\n\xFE", "data_loading", "1", "-150", "-100"));
  const Rows collectives = parse_csv(read_whole_file(folder / "tables/collectives.csv"));
  EXPECT_THAT(collectives[1], ElementsAre("9", "12", "all_reduce", "dp \"0\"", "0,3", "5", "4096", "float32",
                                          "sequence", "0", "3", "500", "", "", "4.096", "500"));
}

TEST(CsvExport, RefusingItTouchesNothing) {
  const TemporaryFolder folder;
  const SampleJob sample = sample_job();
  std::ofstream(folder / "steps.csv") << "mine";
  const Status status = write_csv(sample.job, sample.analysis, folder.path(), Overwrite::refuse);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("steps.csv exists"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  EXPECT_TRUE(write_csv(sample.job, sample.analysis, folder.path(), Overwrite::allow).ok());
  EXPECT_THAT(read_whole_file(folder / "steps.csv"), HasSubstr("12,0,0,2000"));
}

TEST(CsvExport, AStepOfNoLengthHasALengthOfZero) {
  const TemporaryFolder folder;
  SampleJob sample = sample_job();
  StepReport& step = sample.analysis.report.steps.at(0);
  step.end_ns = step.begin_ns;
  step.measures = {};
  step.measures.known = false;
  ASSERT_TRUE(write_csv(sample.job, sample.analysis, folder / "tables", Overwrite::refuse).ok());
  const Rows steps = parse_csv(read_whole_file(folder / "tables/steps.csv"));
  ASSERT_EQ(steps[0][4], "window_ns");
  EXPECT_EQ(steps[1][4], "0");
  EXPECT_EQ(steps[1][5], "");
}

TEST(CsvExport, SpreadsheetsCalculateNoName) {
  SampleJob sample = sample_job();
  const auto names_with = [&](const std::string& name, Formulas formulas) {
    sample.job.ranks.at(0).activities.at(2).name = sample.job.strings.intern(name);
    std::ostringstream out;
    write_activities_csv(sample.job, sample.analysis, out, formulas);
    for (const auto& row : parse_csv(out.str()))
      if (row.at(3).find("A1") != std::string::npos) return row.at(3);
    return std::string("not there");
  };
  for (const std::string name : {"=A1", "+A1", "-A1", "@A1", "\tA1", "\rA1", "=A1,\"x\""}) {
    EXPECT_EQ(names_with(name, Formulas::as_text), "'" + name);
    EXPECT_EQ(names_with(name, Formulas::as_recorded), name);
  }
  EXPECT_EQ(names_with("A1=-2", Formulas::as_text), "A1=-2");
}

TEST(CsvExport, ActivitiesAloneGoToAStream) {
  const SampleJob sample = sample_job();
  std::ostringstream out;
  write_activities_csv(sample.job, sample.analysis, out);
  const Rows rows = parse_csv(out.str());
  ASSERT_EQ(rows.size(), 7u);
  EXPECT_THAT(rows[3], ElementsAre("0", "2", "0", "void add<float, 4>(int)", "compute", "800", "1500", "", "",
                                   "", "", "", "", ""));
}

}  // namespace
}  // namespace lockstep::analyzer

#include "analyzer/import/nsys/nsys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "analyzer/import/nsys/report_file.h"
#include "analyzer/import/test_files.h"

namespace lockstep::analyzer::nsys {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int kFirst = 144;
constexpr int kSecond = 145;
constexpr int kThread = 7;

class Nsys : public testing::Test {
 protected:
  // Two processes, one device each; all-to-all of the first runs as SendRecv.
  void write_report(const std::string& path) {
    ReportFile report(path);
    report.add_tables();
    report.run(
        "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT);"
        "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1779782330176752435, '');"
        "CREATE TABLE TARGET_INFO_SYSTEM_ENV (devStateName TEXT, name TEXT, value TEXT);"
        "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('', 'Hostname', 'node7');");
    for (const int pid : {kFirst, kSecond}) {
      const int device = pid - kFirst;
      report.range(50, 900, pid, kThread, "step 3");
      report.launch(100, 110, pid, kThread, 41);
      report.kernel(200, 500, pid, device, 7, 41, "void gemm<float>(int)");
      report.range(115, 130, pid, kThread, "nccl:all_to_all");
      report.launch(120, 125, pid, kThread, 42);
      report.kernel(500, 700, pid, device, 13, 42,
                    "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)");
      report.run("INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (700, 800, 0, 1, 4294967295, 43, " +
                 std::to_string(ReportFile::process(pid)) + ", 3)");
    }
    report.run("INSERT INTO ThreadNames VALUES (" + std::to_string(report.string("trainer")) + ", 0, " +
               std::to_string(ReportFile::process(kFirst) | kThread) + ")");
  }

  static std::vector<RankImport> read(const std::string& path, bool keep = false) {
    Result<std::vector<RankImport>> ranks = import_file(path, {keep});
    if (!ranks.ok()) ADD_FAILURE() << ranks.error().message;
    return ranks.ok() ? std::move(ranks).value() : std::vector<RankImport>();
  }
  static std::string error_of(const std::string& path) {
    const Result<std::vector<RankImport>> ranks = import_file(path);
    return ranks.ok() ? "" : ranks.error().message;
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_ / "report.sqlite";
};

TEST_F(Nsys, EachProcessAndDeviceIsARank) {
  write_report(path_);
  const std::vector<RankImport> ranks = read(path_);
  ASSERT_THAT(ranks, SizeIs(2));
  for (std::size_t i = 0; i < 2; ++i) {
    const RankImport& import = ranks[i];
    const RankTrace& rank = import.trace;
    EXPECT_THAT(import.warnings, IsEmpty());
    EXPECT_EQ(import.source, "nsys");
    EXPECT_TRUE(import.rank_is_assumed);
    EXPECT_EQ(rank.rank, static_cast<std::int32_t>(i));
    EXPECT_EQ(rank.device, "cuda:" + std::to_string(i));
    EXPECT_EQ(rank.host, "node7");
    EXPECT_EQ(import.realtime_of_zero, 1779782330176752435);
    ASSERT_THAT(rank.activities, SizeIs(3));
    EXPECT_EQ(rank.activities[0].activity_class, Class::compute);
    EXPECT_EQ(import.strings.view(rank.activities[0].name), "void gemm<float>(int)");
    EXPECT_EQ(rank.activities[0].launch_begin, 100) << "of its own process: both have correlation 41";
    EXPECT_EQ(rank.activities[0].launch_end, 110);
    EXPECT_EQ(rank.activities[1].activity_class, Class::collective);
    EXPECT_EQ(rank.activities[2].activity_class, Class::sync);
    ASSERT_THAT(rank.communications, SizeIs(1));
    EXPECT_EQ(rank.communications[0].operation, Operation::all_to_all)
        << "as the range around its launch says";
    ASSERT_THAT(rank.steps, SizeIs(1));
    EXPECT_EQ(rank.steps[0].number, 3);
    EXPECT_EQ(rank.activities[0].step, 0U);
    ASSERT_THAT(rank.host_ranges, SizeIs(1)) << "the step alone";
    EXPECT_EQ(rank.lanes[rank.activities[0].lane].name, "stream 7");
    EXPECT_EQ(rank.lanes[rank.activities[1].lane].kind, trace::LaneKind::communication);
  }
  EXPECT_EQ(ranks[0].trace.lanes[ranks[0].trace.activities[2].lane].name, "whole device");
  EXPECT_EQ(ranks[0].trace.lanes.back().name, "trainer");
  EXPECT_EQ(ranks[1].trace.lanes.back().name, "thread 7");
}

constexpr const char* kSendRecv = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";

// The range that names it, and the launch, were before the recording.
TEST_F(Nsys, AKernelOfUnknownLaunchIsNamedLikeItsStreamsOthers) {
  {
    ReportFile report(path_);
    report.add_tables();
    const auto collective = [&](int at, int stream, int correlation, const char* range) {
      report.kernel(at, at + 5, kFirst, 0, stream, correlation, kSendRecv);
      if (range == nullptr) return;
      report.range(at, at + 3, kFirst, kThread, range);
      report.launch(at + 1, at + 2, kFirst, kThread, correlation);
    };
    collective(100, 13, 41, nullptr);
    collective(200, 13, 42, "nccl:all_to_all");
    collective(300, 13, 43, "nccl:all_to_all");
    collective(400, 14, 44, nullptr);  // two kinds of operations on this stream: nobody knows
    collective(500, 14, 45, "nccl:all_to_all");
    collective(600, 14, 46, "nccl:send 0->1");
    collective(700, 15, 47, nullptr);  // none to go by
  }
  const std::vector<RankImport> ranks = read(path_);
  ASSERT_THAT(ranks, SizeIs(1));
  std::vector<Operation> operations;
  for (const Communication& communication : ranks[0].trace.communications)
    operations.push_back(communication.operation);
  EXPECT_THAT(operations, ElementsAre(Operation::all_to_all, Operation::all_to_all, Operation::all_to_all,
                                      Operation::send_recv, Operation::all_to_all, Operation::send,
                                      Operation::send_recv));
  EXPECT_EQ(ranks[0].trace.activities[0].activity_class, Class::collective);
  EXPECT_EQ(ranks[0].trace.activities[3].activity_class, Class::p2p);
}

TEST_F(Nsys, HostRangesAreKeptWhenAskedFor) {
  write_report(path_);
  const std::vector<RankImport> ranks = read(path_, true);
  ASSERT_THAT(ranks, SizeIs(2));
  std::vector<HostKind> kinds;
  for (const HostRange& range : ranks[0].trace.host_ranges) kinds.push_back(range.kind);
  EXPECT_THAT(kinds, ElementsAre(HostKind::step, HostKind::launch, HostKind::other, HostKind::launch));
}

TEST_F(Nsys, LongRangesAreAlwaysKept) {
  {
    ReportFile report(path_);
    report.add_tables();
    report.range(0, kLongHostRange, kFirst, kThread, "save");
    report.range(kLongHostRange, 2 * kLongHostRange - 1, kFirst, kThread, "log");
    report.kernel(20, 30, kFirst, 0, 7, 41, "gemm");
  }
  const std::vector<RankImport> ranks = read(path_);
  ASSERT_THAT(ranks, SizeIs(1));
  ASSERT_THAT(ranks[0].trace.host_ranges, SizeIs(1));
  EXPECT_EQ(ranks[0].strings.view(ranks[0].trace.host_ranges[0].name), "save");
}

TEST_F(Nsys, RangesThatTellOfStepsOrPhasesAreKeptHoweverShort) {
  {
    ReportFile report(path_);
    report.add_tables();
    report.range(0, 300'000, kFirst, kThread, "Optimizer.step#SGD.step");
    report.range(400'000, 500'000, kFirst, kThread, "aten::mm, op_id = 7");
    report.range(2'000'000, 2'900'000, kFirst, kThread, "validation");
    report.kernel(20, 30, kFirst, 0, 7, 41, "gemm");
  }
  const std::vector<RankImport> ranks = read(path_);
  ASSERT_THAT(ranks, SizeIs(1));
  std::vector<std::string> kept;
  for (const HostRange& range : ranks[0].trace.host_ranges)
    if (range.kind == HostKind::other) kept.emplace_back(ranks[0].strings.view(range.name));
  EXPECT_THAT(kept, ElementsAre("Optimizer.step#SGD.step", "validation"));
}

TEST_F(Nsys, PassesAreKnownByTheRangesAroundTheirLaunches) {
  {
    ReportFile report(path_);
    report.add_tables();
    report.range(0, 100, kFirst, 1, "train_step", "4");
    report.range(0, 30, kFirst, 1, "forward_step");  // no step, though it ends with the word
    report.range(40, 90, kFirst, 1, "backward_step");
    report.launch(10, 11, kFirst, 1, 1);
    report.kernel(20, 30, kFirst, 0, 7, 1, "gemm");
    report.launch(50, 51, kFirst, 2, 2);  // by autograd's thread
    report.kernel(60, 70, kFirst, 0, 7, 2, "gemm");
    report.launch(95, 96, kFirst, 1, 3);
    report.kernel(97, 98, kFirst, 0, 7, 3, "adam");
  }
  const std::vector<RankImport> ranks = read(path_);
  ASSERT_THAT(ranks, SizeIs(1));
  const RankTrace& trace = ranks[0].trace;
  ASSERT_THAT(trace.steps, SizeIs(1));
  ASSERT_THAT(trace.activities, SizeIs(3));
  EXPECT_EQ(trace.computations.at(trace.activities[0].compute), (Computation{-1, 0, Pass::forward}));
  EXPECT_EQ(trace.computations.at(trace.activities[1].compute), (Computation{-1, 0, Pass::backward}));
  EXPECT_EQ(trace.activities[2].compute, kNone);
}

TEST_F(Nsys, GzipIsReadAsItStands) {
  write_report(path_);
  std::ifstream file(path_, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(read(folder_.write("report.sqlite.gz", gzip(bytes))), SizeIs(2));
}

TEST_F(Nsys, ARankAloneIsNamedByItsFile) {
  const std::string path = folder_ / "rank5.sqlite";
  {
    ReportFile report(path);
    report.add_tables();
    report.kernel(10, 20, kFirst, 0, 7, 1, "gemm");
  }
  const std::vector<RankImport> ranks = read(path);
  ASSERT_THAT(ranks, SizeIs(1));
  EXPECT_EQ(ranks[0].trace.rank, 5);
  EXPECT_FALSE(ranks[0].rank_is_assumed);
}

TEST_F(Nsys, DevicesThatAProcessOnlyTouchesAreNoRanks) {
  {
    ReportFile report(path_);
    report.add_tables();
    report.kernel(10, 20, kFirst, 1, 7, 1, "gemm");
    report.run("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (20, 30, 0, 1, 7, 2, " +
               std::to_string(ReportFile::process(kFirst)) + ", 4096, 1)");
    report.run("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (30, 40, 1, 1, 7, 3, " +
               std::to_string(ReportFile::process(kFirst)) + ", 4096, 8)");
  }
  const std::vector<RankImport> ranks = read(path_);
  ASSERT_THAT(ranks, SizeIs(1));
  EXPECT_EQ(ranks[0].trace.device, "cuda:1");
  ASSERT_THAT(ranks[0].trace.activities, SizeIs(2));
  EXPECT_EQ(ranks[0].strings.view(ranks[0].trace.activities[1].name), "Memcpy DtoD");
}

TEST_F(Nsys, StepsHaveManyNames) {
  {
    ReportFile report(path_);
    report.add_tables();
    report.kernel(10, 20, kFirst, 0, 7, 1, "gemm");
    report.range(0, 10, kFirst, kThread, "ProfilerStep#1");
    report.range(10, 20, kFirst, kThread, "iteration_2");
    report.range(20, 30, kFirst, kThread, "Train step: 3");
    report.range(30, 40, kFirst, kThread, "step", "4");
    for (const char* other : {"step", "footstep 9", "the 5th step of many steps 12", "forward 3", "7"})
      report.range(50, 60, kFirst, kThread, other);
  }
  const std::vector<RankImport> ranks = read(path_);
  std::vector<std::int64_t> numbers;
  for (const StepMark& step : ranks.at(0).trace.steps) numbers.push_back(step.number);
  EXPECT_THAT(numbers, ElementsAre(1, 2, 3, 4));
}

TEST_F(Nsys, OlderReportsLackColumnsAndTables) {
  {
    ReportFile report(path_);
    report.run(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId "
        "INTEGER, shortName INTEGER);INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 7, 1), (30, "
        "25, 0, 7, 1), (40, NULL, 0, 7, 1)");
    report.string("gemm");
  }
  const std::vector<RankImport> ranks = read(path_);
  ASSERT_THAT(ranks, SizeIs(1));
  ASSERT_THAT(ranks[0].trace.activities, SizeIs(1));
  EXPECT_EQ(ranks[0].strings.view(ranks[0].trace.activities[0].name), "gemm");
  EXPECT_EQ(ranks[0].trace.activities[0].launch_begin, kUnknownTime);
  const Warning* const dropped = find_warning(ranks[0].warnings, "events_dropped");
  ASSERT_NE(dropped, nullptr);
  EXPECT_THAT(dropped->message, HasSubstr("2 events were dropped"));
  EXPECT_NE(find_warning(ranks[0].warnings, "table_missing"), nullptr);
}

TEST_F(Nsys, TellsKernelsOfOneNameByTheirSize) {
  {
    ReportFile report(path_);
    report.run(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId "
        "INTEGER, shortName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY "
        "INTEGER, blockZ INTEGER);INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 7, 1, 4, 1, 1, "
        "256, 1, 1), (30, 35, 0, 7, 1, 4, 1, 1, 256, 1, 1), (40, 45, 0, 7, 1, 8, 1, 1, 256, 1, 1), (50, 55, 0, 7, "
        "1, 8, 1, 1, NULL, 1, 1)");
    report.string("gemm");
  }
  const std::vector<RankImport> ranks = read(path_);
  ASSERT_THAT(ranks, SizeIs(1));
  const std::vector<Activity>& kernels = ranks[0].trace.activities;
  ASSERT_THAT(kernels, SizeIs(4));
  EXPECT_NE(kernels[0].shape, 0u);
  EXPECT_EQ(kernels[1].shape, kernels[0].shape);
  EXPECT_NE(kernels[2].shape, kernels[0].shape);
  EXPECT_EQ(kernels[3].shape, 0u) << "not known";
  std::vector<std::uint32_t> warps;
  for (const Activity& kernel : kernels) warps.push_back(kernel.warps);
  EXPECT_THAT(warps, testing::ElementsAre(32u, 32u, 64u, 0u));
}

TEST_F(Nsys, ErrorsSayWhatToDo) {
  { ReportFile report(path_); }
  EXPECT_THAT(error_of(path_),
              HasSubstr("holds no GPU activity: record it with `nsys profile --trace=cuda,nvtx`"));
  const std::string other = folder_ / "other.sqlite";
  {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(other.c_str(), &database), SQLITE_OK);
    sqlite3_exec(database, "CREATE TABLE people (name TEXT)", nullptr, nullptr, nullptr);
    sqlite3_close(database);
  }
  EXPECT_THAT(error_of(other), HasSubstr("no export of nsys"));
  EXPECT_THAT(error_of(folder_ / "nothing.sqlite"), HasSubstr("nothing.sqlite: unable to open"));
  EXPECT_THAT(error_of(folder_.write("text.sqlite", "SQLite format 3 is not enough")),
              HasSubstr("damaged (file is not a database): export it again"));
}

TEST_F(Nsys, AFileThatIsBeingWrittenIsNotRead) {
  write_report(path_);
  sqlite3* writer = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &writer), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(writer, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_THAT(error_of(path_), HasSubstr("another program is writing it"));
  sqlite3_close(writer);
  EXPECT_THAT(read(path_), SizeIs(2));
}

// A view of that name could run for ever.
TEST_F(Nsys, ViewsAreNoTables) {
  {
    ReportFile report(path_);
    report.run(
        "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 "
        "FROM n) SELECT x AS start, x + 1 AS end, 0 AS deviceId FROM n");
  }
  EXPECT_THAT(error_of(path_), HasSubstr("holds no GPU activity"));
}

// Such a name would be in memory several times.
TEST_F(Nsys, AValueOfMoreThan64MiBEndsItsTable) {
  write_report(path_);
  {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database,
                           "PRAGMA synchronous=OFF;"
                           "INSERT INTO StringIds VALUES (1000, zeroblob(67108865))",
                           nullptr, nullptr, nullptr),
              SQLITE_OK);
    sqlite3_close(database);
  }
  const std::vector<RankImport> ranks = read(path_);
  ASSERT_THAT(ranks, SizeIs(2)) << "the names before it are there";
  ASSERT_FALSE(ranks[0].warnings.empty());
  EXPECT_EQ(ranks[0].warnings[0].code, "file_damaged");
  EXPECT_THAT(ranks[0].warnings[0].message,
              testing::AllOf(HasSubstr(path_ + ": table StringIds: row "),
                             HasSubstr("has a value of more than 64 MiB, which is no name")));
  for (const RankImport& rank : ranks) EXPECT_THAT(rank.trace.activities, SizeIs(3));
}

TEST_F(Nsys, CutAndMutatedFilesAreReadOrRefused) {
  write_report(path_);
  std::ifstream file(path_, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::mt19937_64 random(3);
  for (int i = 0; i < 400; ++i) {
    std::string mutated = bytes;
    for (std::uint64_t changes = 1 + random() % 20; changes > 0; --changes)
      mutated[random() % mutated.size()] = static_cast<char>(random());
    if (i % 2 == 0) mutated.resize(random() % mutated.size());
    const Result<std::vector<RankImport>> ranks = import_file(folder_.write("mutated.sqlite", mutated));
    if (!ranks.ok()) continue;
    for (const RankImport& rank : ranks.value()) {
      for (const Activity& activity : rank.trace.activities) {
        ASSERT_LE(activity.begin, activity.end);
        ASSERT_LT(activity.lane, rank.trace.lanes.size());
        ASSERT_LT(activity.name, rank.strings.size());
      }
    }
  }
}

}  // namespace
}  // namespace lockstep::analyzer::nsys

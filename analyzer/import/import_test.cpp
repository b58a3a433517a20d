#include "analyzer/import/import.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include "analyzer/import/generated_kineto.h"
#include "analyzer/import/rank/rank_import.h"
#include "analyzer/import/test_files.h"
#include "analyzer/model/check_job.h"
#include "trace/writer.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string kineto(int rank, int world_size = 0) {
  const std::string world = world_size > 0 ? fmt::format(R"(, "world_size": {})", world_size) : "";
  return fmt::format(
      R"({{"distributedInfo": {{"rank": {}{}}}, "traceEvents": [
          {{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {{"device": 0, "stream": 7}}}}]}})",
      rank, world);
}

void write_run_file(const std::string& path, int rank, const char* host = nullptr) {
  trace::Writer writer = must(trace::Writer::create(path.c_str()));
  writer.set_metadata("rank", std::to_string(rank));
  if (host != nullptr) writer.set_metadata("host", host);
  const trace::LaneId lane = writer.add_lane({trace::LaneKind::compute_thread, 1, 1, 0, ""});
  writer.append(
      trace::DeviceActivity{lane, 10, 20, writer.intern("layer"), trace::ActivityClass::compute, 0, 0});
  ASSERT_TRUE(writer.close().ok());
}

Job import_ok(const std::vector<std::string>& paths, const ImportOptions& options = {}) {
  Job job = must(import_job(paths, options));
  const Status status = check_job(job);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return job;
}
std::string import_error(const std::vector<std::string>& paths) {
  const Result<Job> job = import_job(paths);
  EXPECT_FALSE(job.ok());
  return job.ok() ? "" : job.error().message;
}

std::vector<std::int32_t> ranks_of(const Job& job) {
  std::vector<std::int32_t> ranks;
  for (const RankTrace& rank : job.ranks) ranks.push_back(rank.rank);
  return ranks;
}

TEST(ImportJob, TellsOfEachRankThatWasRead) {
  const TemporaryFolder folder;
  for (int rank = 0; rank < 6; ++rank) folder.write(fmt::format("rank-{}.json", rank), kineto(rank, 7));
  folder.write("rank-6.json", "{");
  std::mutex mutex;
  std::multiset<std::int32_t> told;
  ImportOptions options;
  options.rank_read = [&](const RankImport& rank) {
    const std::lock_guard lock(mutex);
    told.insert(rank.trace.rank);
    EXPECT_EQ(rank.trace.activities.size(), 1u);
  };
  EXPECT_EQ(import_ok({folder.path().string()}, options).ranks.size(), 6u);
  EXPECT_THAT(told, ElementsAre(0, 1, 2, 3, 4, 5)) << "of a file that cannot be read nothing is told";
}

TEST(ImportJob, ReadsFoldersOfPlainAndGzipFilesRecursively) {
  const TemporaryFolder folder;
  folder.write("host1/w0.1234.pt.trace.json", kineto(2));
  folder.write("host1/w1.1234.pt.trace.json.gz", gzip(kineto(1)));
  folder.write("host2/deeper/x.json", kineto(0));
  folder.write("notes.txt", "not a trace");
  const Job job = import_ok({folder.path().string()});
  EXPECT_THAT(ranks_of(job), ElementsAre(0, 1, 2));
  EXPECT_THAT(job.sources, ElementsAre("kineto"));
  EXPECT_THAT(job.warnings, IsEmpty());
  EXPECT_EQ(job.path, folder.path().string());
}

TEST(ImportJob, TellsKindsByContentNotByName) {
  const TemporaryFolder folder;
  const std::string disguised = folder.write("zero.lst", gzip(kineto(0)));
  write_run_file(folder / "one.json", 1);
  const Job job = import_ok({disguised, folder / "one.json"});
  EXPECT_THAT(ranks_of(job), ElementsAre(0, 1));
  EXPECT_THAT(job.sources, ElementsAre("kineto", "lockstep"));
}

TEST(ImportJob, ReadsARunFolder) {
  const TemporaryFolder folder;
  write_run_file(folder / "rank-0.lst", 0);
  write_run_file(folder / "rank-2.lst", 2);
  write_run_file(folder / "proc-node7-99.lst", 3);
  folder.write("manifest.json", R"({"format": "lockstep.run/1", "world_size": 3})");
  folder.write("nccl.log",
               "node0:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 3 cudaDev 0 busId 1 commId 0x2 - Init START\n"
               "node0:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 2[2] via P2P/CUMEM\n");
  const Job job = import_ok({folder.path().string()});
  EXPECT_THAT(ranks_of(job), ElementsAre(0, 2));
  EXPECT_EQ(job.world_size, 3);
  EXPECT_EQ(job.paths.size(), 1u) << "NCCL's log lies in the folder";
  EXPECT_THAT(job.ranks_missing, ElementsAre(1));
  EXPECT_NE(find_warning(job.warnings, "processes_without_rank"), nullptr);
  EXPECT_EQ(job.ranks[0].device, "cpu");
}

TEST(ImportJob, ALogOfNcclOfOtherHostsIsSaidToBeOne) {
  for (const bool same : {true, false}) {
    const TemporaryFolder folder;
    write_run_file(folder / "rank-0.lst", 0, same ? "node7.rack1" : "node8.rack1");
    const std::string log = folder.write(
        "nccl.log",
        "node7:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 busId 1 commId 0x2 - Init START\n"
        "node7:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n");
    const Job job = import_ok({folder / "rank-0.lst", log});
    EXPECT_EQ(find_warning(job.warnings, "nccl_log_of_other_hosts") == nullptr, same);
  }
}

TEST(ImportJob, OneBadFileAmongGoodOnesIsAWarning) {
  const TemporaryFolder folder;
  folder.write("rank0.json", kineto(0));
  folder.write("rank1.json", "");
  folder.write("rank2.json", "hello");
  folder.write("rank3.json", R"({"no": "events"})");
  folder.write("rank4.json.gz", gzip(kineto(4)).substr(0, 15));
  folder.write("rank5.json", kineto(5));
  const Job job = import_ok({folder.path().string()});
  EXPECT_THAT(ranks_of(job), ElementsAre(0, 5));
  std::string messages;
  for (const Warning& warning : job.warnings) {
    EXPECT_EQ(warning.code, "file_unreadable");
    messages += warning.message + "\n";
  }
  EXPECT_THAT(messages, HasSubstr("rank1.json: the file is empty"));
  EXPECT_THAT(messages, HasSubstr("rank2.json: neither a trace of ours, nor JSON, nor a pickle"));
  EXPECT_THAT(messages, HasSubstr("rank3.json: JSON without an array \"traceEvents\""));
  EXPECT_THAT(messages, HasSubstr("rank4.json.gz: "));
}

TEST(ImportJob, OfSeveralFilesTheOneThatIsNoTraceIsAWarningInWhateverOrder) {
  const TemporaryFolder folder;
  folder.write("a.json", kineto(0));
  folder.write("b.json", kineto(1));
  folder.write("notes.txt", "what we saw");
  const std::vector<std::string> one = {folder / "notes.txt", folder / "b.json", folder / "a.json"};
  const Job first = import_ok(one), second = import_ok({one.rbegin(), one.rend()});
  EXPECT_THAT(ranks_of(first), ElementsAre(0, 1));
  const Warning* warning = find_warning(first.warnings, "file_unreadable");
  ASSERT_NE(warning, nullptr);
  EXPECT_THAT(warning->message, HasSubstr("notes.txt: neither a trace of ours"));
  EXPECT_EQ(first.path, second.path);
  EXPECT_EQ(import_error({folder / "a.json", folder / "absent"}), folder / "absent: no such file or folder");
}

TEST(ImportJob, OfTenThousandRanksThreeAreBroken) {
  constexpr int kRanks = 10'000;
  const std::map<int, std::string> broken{{17, ""}, {4711, "PK\x03\x04"}, {9999, R"({"no": "events"})"}};
  const TemporaryFolder folder;
  for (int rank = 0; rank < kRanks; ++rank) {
    const auto content = broken.find(rank);
    folder.write(fmt::format("rank{}.json", rank),
                 content != broken.end() ? content->second : kineto(rank, kRanks));
  }
  const Job job = import_ok({folder.path().string()});
  EXPECT_EQ(job.ranks.size(), kRanks - broken.size());
  EXPECT_EQ(job.world_size, kRanks);
  EXPECT_THAT(job.ranks_missing, ElementsAre(17, 4711, 9999));
  std::string unreadable;
  for (const Warning& warning : job.warnings)
    if (warning.code == "file_unreadable") unreadable += warning.message + "\n";
  for (const auto& [rank, content] : broken)
    EXPECT_THAT(unreadable, HasSubstr(fmt::format("rank{}.json: ", rank)));
}

TEST(ImportJob, ErrorsSayWhatIsWrongAndWhatIsUnderstood) {
  const TemporaryFolder folder;
  EXPECT_THAT(import_error({}), HasSubstr("no input given. Lockstep reads"));
  EXPECT_EQ(import_error({folder / "absent"}), folder / "absent: no such file or folder");
  EXPECT_THAT(import_error({folder.path().string()}), HasSubstr("nothing to analyze in this folder"));
  EXPECT_EQ(import_error({folder.write("empty.json", "")}), folder / "empty.json: the file is empty");
  EXPECT_THAT(import_error({folder.write("x.sqlite", "SQLite format 3")}),
              HasSubstr("x.sqlite: the SQLite file is damaged"));
  EXPECT_THAT(
      import_error({folder.write("x.txt", "hello")}),
      HasSubstr("neither a trace of ours, nor JSON, nor a pickle, nor a log of NCCL. Lockstep reads"));
  EXPECT_THAT(import_error({"/dev/null"}), HasSubstr("neither a file nor a folder"));
  folder.write("run/proc-a-1.lst", "x");
  folder.write("run/proc-a-2.lst", "x");
  EXPECT_THAT(import_error({folder / "run"}), HasSubstr("no process of this run was a rank"));
}

TEST(ImportJob, AFileGivenTwiceIsReadOnce) {
  const TemporaryFolder folder;
  const std::string path = folder.write("rank0.json", kineto(0));
  const Job job = import_ok({path, folder.path().string()});
  EXPECT_EQ(job.ranks.size(), 1u);
  EXPECT_NE(find_warning(job.warnings, "file_repeated"), nullptr);
}

TEST(ImportJob, ReportsProgressFromOneThreadAtATimeUpToTheTotal) {
  const TemporaryFolder folder;
  std::uint64_t bytes = 0;
  for (int rank = 0; rank < 6; ++rank)
    bytes += std::filesystem::file_size(folder.write(fmt::format("rank{}.json", rank), kineto(rank)));
  std::atomic<int> inside = 0;
  std::uint64_t last = 0;
  ImportOptions options;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_EQ(++inside, 1);
    EXPECT_EQ(total, bytes);
    EXPECT_GE(done, last);
    last = done;
    --inside;
  };
  import_ok({folder.path().string()}, options);
  EXPECT_EQ(last, bytes);
}

// Of a long file the rest is not read.
TEST(ImportJob, StopsSoonWhenItIsAskedTo) {
  const TemporaryFolder folder;
  must(generate_kineto(folder / "rank-0.json", {.least_bytes = 40'000'000, .rank = 0, .world_size = 2}));
  std::stop_source stop;
  std::uint64_t last = 0, all = 0;
  ImportOptions options;
  options.stop = stop.get_token();
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    last = done;
    all = total;
    stop.request_stop();
  };
  const Result<Job> job = import_job({folder.path().string()}, options);
  ASSERT_FALSE(job.ok());
  EXPECT_THAT(job.error().message, testing::HasSubstr("stopped"));
  EXPECT_GT(last, 0u);
  EXPECT_LT(last, all / 2);
  EXPECT_FALSE(import_job({folder.path().string()}, options).ok()) << "stopped before it begins";
}

// Kineto's metadata may speak of NCCL's version before the events, and far before them: groups, devices.
TEST(ImportJob, KinetoIsKnownWhereverItsKeysStand) {
  const std::string event =
      R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {"stream": 7}})";
  const std::string padding(2'500'000, 'x');
  for (const std::string& head :
       {std::string(R"("distributedInfo": {"rank": 0, "world_size": 1, "nccl_version": "2.27.5"},)"),
        std::string(R"("nccl_version": "2.27.5",)"),
        std::string(
            R"("nccl_version": "2", "pg_config": {"0": {}}, "schemaVersion": 1, "distributedInfo": {},)"),
        R"("nccl_version": "2.27.5", "notes": "\"pg_status\": )" + padding + R"(",)"}) {
    const TemporaryFolder folder;
    const std::string file =
        folder.write("rank0.json", "{" + head + R"("traceEvents": [)" + event + R"(], "traceName": "a"})");
    const Job job = import_ok({file});
    EXPECT_THAT(job.sources, testing::ElementsAre("kineto"));
    EXPECT_EQ(job.ranks.at(0).activities.size(), 1u);
  }
  // A recorder's dump may have any keys of Kineto's within, and anything before.
  for (const std::string& head :
       {std::string(R"("version": "2.10",)"), R"("notes": ")" + padding + R"(",)"}) {
    const TemporaryFolder folder;
    const Job job = import_ok({folder.write(
        "nccl_trace_rank_0",
        "{" + head +
            R"("entries": [{"profiling_name": "nccl:all_reduce", "frames": [{"traceEvents": 1}]}]})")});
    EXPECT_THAT(job.sources, testing::ElementsAre("flight recorder"));
    EXPECT_EQ(job.dumps, Dumps::all);
  }
}

TEST(ImportJob, SeveralRunsInAFolderAreListed) {
  const TemporaryFolder folder;
  for (const char* run : {"a", "b10", "b9"}) folder.write(std::string("runs/") + run + "/rank-0.lst", "");
  const Result<Job> job = import_job({folder / "runs"});
  ASSERT_FALSE(job.ok());
  EXPECT_THAT(
      job.error().message,
      testing::HasSubstr("3 runs in this folder; give one of them, for example " + folder / "runs/a"));
  EXPECT_THAT(job.error().message, testing::ContainsRegex("runs/a\n.*runs/b9\n.*runs/b10"));
  folder.write("runs/profile.json", R"({"traceEvents": []})");
  EXPECT_THAT(
      import_error({folder / "runs"}),
      testing::HasSubstr("3 runs in this folder, and a trace file that is part of no run; give one of them"));
  folder.write("runs/more/profile.json", R"({"traceEvents": []})");
  EXPECT_THAT(import_error({folder / "runs"}),
              testing::HasSubstr(", and 2 trace files that are part of no run; "));
}

// A file of many windows, against what its maker counted.
TEST(ImportJob, ReadsAGeneratedFileWhole) {
  const TemporaryFolder folder;
  const GeneratedCounts counts =
      must(generate_kineto(folder / "rank-3.json", {.least_bytes = 5'000'000, .rank = 3, .world_size = 64}));
  const Job job = import_ok({folder / "rank-3.json"});
  const RankTrace& rank = job.ranks.at(0);
  EXPECT_EQ(rank.rank, 3);
  EXPECT_EQ(rank.activities.size(), counts.kernels + counts.copies);
  EXPECT_EQ(rank.communications.size(), counts.all_reduces);
  EXPECT_EQ(rank.steps.size(), counts.steps);
  EXPECT_EQ(rank.resolution_ns, 1);
  for (const Activity& activity : rank.activities) {
    ASSERT_NE(activity.launch_begin, kUnknownTime);
    ASSERT_NE(activity.step, kNone);
  }
  EXPECT_EQ(job.groups.at(0).ranks.size(),
            64u);  // the list was cut at 30: a group of the world's size is the world
}

class RealTraces : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kTraces)) GTEST_SKIP() << "no traces of others in ../shared/traces";
  }
  static std::pair<std::size_t, std::size_t> kernels_and_communication(const RankTrace& rank) {
    std::size_t kernels = 0;
    for (const Activity& activity : rank.activities)
      kernels += activity.activity_class != Class::copy && activity.activity_class != Class::sync;
    return {kernels, rank.communications.size()};
  }
  inline static const std::string kTraces = LOCKSTEP_SOURCE_DIR "/../shared/traces/";
};

TEST_F(RealTraces, DlrmHasEightRanksOfEightCollectives) {
  const Job job = import_ok({kTraces + "dlrm-8rank"});
  EXPECT_THAT(ranks_of(job), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(job.world_size, 8);
  // The profiles were taken with record_shapes, which costs the host time.
  ASSERT_EQ(job.warnings.size(), 1u);
  EXPECT_EQ(job.warnings[0].code, "profiler_overhead");
  for (const RankTrace& rank : job.ranks) {
    std::vector<Operation> operations;
    for (const Communication& communication : rank.communications)
      operations.push_back(communication.operation);
    // By kernel name these are SendRecv; the ranges around their launches say what they are.
    EXPECT_THAT(operations, ElementsAre(Operation::all_to_all, Operation::all_to_all, Operation::all_to_all,
                                        Operation::all_to_all, Operation::all_reduce, Operation::all_to_all,
                                        Operation::all_reduce, Operation::all_reduce))
        << rank.rank;
    EXPECT_EQ(rank.steps.size(), 1u);
    EXPECT_EQ(rank.resolution_ns, 1000);
    EXPECT_EQ(rank.device, fmt::format("cuda:{}", rank.rank));
  }
}

TEST_F(RealTraces, HtaCountsAreAsPublished) {
  const std::pair<const char*, std::pair<std::size_t, std::size_t>> expected[] = {
      {"sampled_rank-0", {1154, 10}},
      {"sampled_rank-1", {1104, 10}},
      {"nccl_data", {2700, 21}},
      {"negative_queue", {6080, 80}}};
  for (const auto& [name, counts] : expected) {
    const Job job = import_ok({kTraces + "hta/" + name + ".json.gz"});
    EXPECT_EQ(kernels_and_communication(job.ranks.at(0)), counts) << name;
  }
}

TEST_F(RealTraces, NcclDataBringsItsMetadata) {
  const Job job = import_ok({kTraces + "hta/nccl_data.json.gz"});
  const RankTrace& rank = job.ranks.at(0);
  EXPECT_EQ(rank.resolution_ns, 1);
  EXPECT_EQ(job.realtime_of_zero, 1711964646000000000);
  ASSERT_EQ(job.groups.size(), 1u);
  EXPECT_EQ(job.groups[0].description, "default_pg");
  EXPECT_THAT(job.groups[0].ranks, ElementsAre(0, 1));
  const Communication& first = rank.communications.at(3);
  EXPECT_EQ(first.operation, Operation::all_reduce);
  EXPECT_EQ(first.bytes, 31502336);
  EXPECT_EQ(first.data_type, DataType::float32);
}

// The folder holds files of three jobs: the one with most ranks is taken.
TEST_F(RealTraces, FilesOfSeveralJobsInAFolderAreToldApart) {
  const Job job = import_ok({kTraces + "hta"});
  EXPECT_THAT(ranks_of(job), ElementsAre(0, 1));
  EXPECT_EQ(job.world_size, 128);
  EXPECT_EQ(job.warnings.size(), 3u);
}

}  // namespace
}  // namespace lockstep::analyzer

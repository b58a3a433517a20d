// What ImportOptions say of how files are read reaches the importer of each kind.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "analyzer/import/import.h"
#include "analyzer/import/nsys/report_file.h"
#include "analyzer/import/rank/communication_patterns.h"
#include "analyzer/import/test_files.h"
#include "trace/writer.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Each holds two kernels of rank 0: "gemm", and "my_ring", whose name says nothing.
std::string write_kineto(const TemporaryFolder& folder) {
  return folder.write("rank-0.json",
                      R"({"distributedInfo": {"rank": 0, "world_size": 1}, "traceEvents": [
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {"device": 0, "stream": 7}},
  {"ph": "X", "cat": "kernel", "name": "my_ring", "pid": 0, "tid": 7, "ts": 4, "dur": 2, "args": {"device": 0, "stream": 7}}]})");
}
std::string write_nsys(const TemporaryFolder& folder) {
  const std::string path = folder / "report.sqlite";
  nsys::ReportFile report(path);
  report.add_tables();
  report.kernel(10, 20, 100, 0, 7, 1, "gemm");
  report.kernel(30, 40, 100, 0, 7, 2, "my_ring");
  return path;
}
std::string write_recorded(const TemporaryFolder& folder) {
  const std::string path = folder / "rank-0.lst";
  trace::Writer writer = must(trace::Writer::create(path.c_str()));
  writer.set_metadata("rank", "0");
  const trace::LaneId lane = writer.add_lane({trace::LaneKind::device_stream, 1, 7, 0, "stream 7"});
  writer.append(trace::DeviceActivity{.lane = lane, .begin = 10, .end = 20, .name = writer.intern("gemm")});
  writer.append(
      trace::DeviceActivity{.lane = lane, .begin = 30, .end = 40, .name = writer.intern("my_ring")});
  EXPECT_TRUE(writer.close().ok());
  return path;
}

std::map<std::string, Class> classes_of(const Job& job) {
  std::map<std::string, Class> classes;
  for (const RankTrace& rank : job.ranks)
    for (const Activity& activity : rank.activities)
      classes[std::string(job.strings.view(activity.name))] = activity.activity_class;
  return classes;
}

std::vector<std::string> not_found(const Job& job) {
  std::vector<std::string> messages;
  for (const Warning& warning : job.warnings)
    if (warning.code == "communication_not_found") messages.push_back(warning.message);
  return messages;
}

TEST(ReadingOptions, WhatTheUserSaysCommunicatesAndDoesNotOccurIsAWarning) {
  const TemporaryFolder folder;
  const std::string path = write_kineto(folder);
  ImportOptions options;
  options.communication = must(CommunicationPatterns::parse({"my_ring=all_gather", "your_ring=all_gather"}));
  EXPECT_THAT(not_found(must(import_job({path}, options))), ElementsAre(HasSubstr("'your_ring=all_gather'")));
  EXPECT_THAT(not_found(must(import_job({path}))), testing::IsEmpty());
}

// Annotations are found where they count: where no GPU computes.
TEST(ReadingOptions, AnnotationsCanBeNamedWhereNoGpuComputes) {
  const auto document = [](const char* category) {
    return fmt::format(
        R"({{"distributedInfo": {{"rank": 0, "world_size": 1}}, "traceEvents": [
  {{"ph": "X", "cat": "{}", "name": "aten::mm", "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {{"device": 0, "stream": 7}}}},
  {{"ph": "X", "cat": "user_annotation", "name": "my_ring", "pid": 9, "tid": 9, "ts": 4, "dur": 2000}}]}})",
        category);
  };
  ImportOptions options;
  options.communication = must(CommunicationPatterns::parse({"my_ring=all_gather"}));
  const TemporaryFolder folder;
  const Job on_cpu = must(import_job({folder.write("cpu-0.json", document("cpu_op"))}, options));
  EXPECT_THAT(not_found(on_cpu), testing::IsEmpty());
  EXPECT_EQ(classes_of(on_cpu)["my_ring"], Class::collective);
  const Job on_gpu = must(import_job({folder.write("gpu-0.json", document("kernel"))}, options));
  EXPECT_THAT(not_found(on_gpu), ElementsAre(HasSubstr("'my_ring=all_gather' changes nothing")));
}

TEST(ReadingOptions, WhatTheUserSaysCommunicatesDoesInFilesOfEachKind) {
  using Write = std::string (*)(const TemporaryFolder&);
  for (const auto& [kind, write] : std::map<std::string, Write>{
           {"kineto", write_kineto}, {"nsys", write_nsys}, {"lockstep", write_recorded}}) {
    const TemporaryFolder folder;
    const std::string path = write(folder);
    const Job plain = must(import_job({path}));
    EXPECT_THAT(plain.sources, ElementsAre(kind));
    EXPECT_EQ(classes_of(plain).at("my_ring"), Class::compute) << kind;
    EXPECT_TRUE(plain.ranks.at(0).communications.empty()) << kind;
    ImportOptions options;
    options.communication = must(CommunicationPatterns::parse({"my_ring=all_gather"}));
    const Job job = must(import_job({path}, options));
    EXPECT_EQ(classes_of(job).at("my_ring"), Class::collective) << kind;
    EXPECT_EQ(classes_of(job).at("gemm"), Class::compute) << kind;
    ASSERT_EQ(job.ranks.at(0).communications.size(), 1U) << kind;
    EXPECT_EQ(job.ranks[0].communications[0].operation, Operation::all_gather) << kind;
  }
}

// A worker's profile of one step, whose number is that of the cycle: as torch.profiler's schedule writes one
// each time.
std::string profile(int rank, int step) {
  return fmt::format(
      R"({{"distributedInfo": {{"rank": {0}, "world_size": 2}}, "traceEvents": [
  {{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{1}", "pid": 1{0}, "tid": 1, "ts": {1}000, "dur": 100}},
  {{"ph": "X", "cat": "kernel", "name": "gemm of step {1}", "pid": 0, "tid": 7, "ts": {1}010, "dur": 20, "args": {{"device": 0, "stream": 7}}}}]}})",
      rank, step);
}

class CyclesOfAJob : public testing::Test {
 protected:
  CyclesOfAJob() {
    for (const int rank : {0, 1})
      for (const int step : {3, 5, 7})
        folder_.write(fmt::format("worker{}.{}.pt.trace.json", rank, step), profile(rank, step));
  }
  Result<Job> read(int cycle) const {
    ImportOptions options;
    options.cycle = cycle;
    return import_job({folder_.path().string()}, options);
  }
  static std::vector<std::int64_t> steps_of(const RankTrace& rank) {
    std::vector<std::int64_t> steps;
    for (const StepMark& step : rank.steps) steps.push_back(step.number);
    return steps;
  }
  TemporaryFolder folder_;
};

TEST_F(CyclesOfAJob, AreOneRecordingUnlessOneIsChosen) {
  const Job all = must(read(0));
  ASSERT_EQ(all.ranks.size(), 2U);
  for (const RankTrace& rank : all.ranks) {
    EXPECT_THAT(steps_of(rank), ElementsAre(3, 5, 7));
    EXPECT_EQ(rank.activities.size(), 3U);
    EXPECT_EQ(rank.unrecorded.size(), 2U) << "nothing was recorded between them";
  }
  ASSERT_NE(find_warning(all.warnings, "profile_cycles"), nullptr);
  EXPECT_THAT(find_warning(all.warnings, "profile_cycles")->message,
              HasSubstr("each of 2 ranks has up to 3"));
}

TEST_F(CyclesOfAJob, OneAloneIsReadWhereItIsChosen) {
  for (const int cycle : {1, 2, 3}) {
    const Job one = must(read(cycle));
    ASSERT_EQ(one.ranks.size(), 2U);
    for (const RankTrace& rank : one.ranks) {
      EXPECT_THAT(steps_of(rank), ElementsAre(2 * cycle + 1));
      ASSERT_EQ(rank.activities.size(), 1U);
      EXPECT_EQ(one.strings.view(rank.activities[0].name), fmt::format("gemm of step {}", 2 * cycle + 1));
      EXPECT_TRUE(rank.unrecorded.empty());
    }
    ASSERT_NE(find_warning(one.warnings, "profile_cycles"), nullptr);
    EXPECT_THAT(find_warning(one.warnings, "profile_cycles")->message,
                HasSubstr(fmt::format("cycle {} of 3 is read", cycle)));
  }
  const Result<Job> none = read(4);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("--cycle 4: there are 3 cycles of each process at most"));
}

// One process's profile of one step that says nothing of ranks, as export_chrome_trace() writes it; times in
// seconds.
std::string lone_profile(int step, int process) {
  return fmt::format(
      R"({{"baseTimeNanoseconds": 1700000000000000000, "traceEvents": [
  {{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{0}", "pid": {1}, "tid": 1, "ts": {0}000000, "dur": 100}},
  {{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": {1}, "tid": 1, "ts": {0}000001, "dur": 2, "args": {{"correlation": 1}}}},
  {{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": {0}000010, "dur": {1}, "args": {{"device": 0, "stream": 7, "correlation": 1}}}}]}})",
      step, process);
}

TEST(NumbersInNames, AreRanksOnlyWhereTheFilesAreOfSeveralProcesses) {
  struct File {
    const char* name;
    int step, process;
  };
  const auto ranks_of = [](const std::vector<File>& files) {
    const TemporaryFolder folder;
    for (const File& file : files) folder.write(file.name, lone_profile(file.step, file.process));
    const Job job = must(import_job({folder.path().string()}));
    std::vector<std::int32_t> ranks;
    for (const RankTrace& rank : job.ranks) ranks.push_back(rank.rank);
    EXPECT_EQ(job.world_size, static_cast<std::int32_t>(ranks.size())) << "ranks of an invented job";
    return ranks;
  };
  EXPECT_THAT(ranks_of({{"trace_6.json", 2, 20}, {"trace_12.json", 8, 20}, {"trace_18.json", 14, 20}}),
              ElementsAre(0));
  EXPECT_THAT(ranks_of({{"step_500.json", 500, 20}}), ElementsAre(0));
  EXPECT_THAT(ranks_of({{"vm_1.1796047642500863723.pt.trace.json", 2, 1}}), ElementsAre(0));
  EXPECT_THAT(ranks_of({{"host_100.1700000000000000000.pt.trace.json", 2, 100},
                        {"host_100.1700000001000000000.pt.trace.json", 8, 100}}),
              ElementsAre(0));
  EXPECT_THAT(ranks_of({{"trace_0.json", 2, 20}, {"trace_1.json", 2, 21}}), ElementsAre(0, 1));
}

}  // namespace
}  // namespace lockstep::analyzer

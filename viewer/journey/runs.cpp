#include "viewer/journey/runs.h"

#include <fmt/format.h>

#include <fstream>
#include <string>
#include <vector>

#include "analyzer/model/job_builder.h"

namespace lockstep::viewer::journey {

namespace {

constexpr int kStepUs = 4000;

// One rank's file. Times end in .125 µs, so that nothing is a whole number of microseconds by chance.
class KinetoFile {
 public:
  explicit KinetoFile(int rank) {
    text_ = fmt::format(
        R"({{"distributedInfo": {{"backend": "nccl", "rank": {}, "world_size": {}}}, "traceEvents": [)", rank,
        kRunRanks);
  }
  void step(int number, int begin, int length) {
    event("user_annotation", fmt::format("ProfilerStep#{}", number), 10, begin, length, "");
  }
  // A kernel, and its launch 20 µs before it.
  void kernel(const std::string& name, int stream, int begin, int length, const std::string& arguments = "") {
    ++correlation_;
    event("cuda_runtime", "cudaLaunchKernel", 10, begin - 20, 8,
          fmt::format(R"("correlation": {})", correlation_));
    event("kernel", name, stream, begin, length,
          fmt::format(R"("device": 0, "stream": {}, "correlation": {}{})", stream, correlation_, arguments));
  }
  void all_reduce(int begin, int length) {
    kernel(
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)", 20, begin, length,
        fmt::format(R"(, "Collective name": "allreduce", "In msg nelems": 1000000, "Out msg nelems": 1000000,
"Group size": {}, "dtype": "Float", "Process Group Name": "0", "Process Group Ranks": "[0, 1, 2, 3]", "Seq": {})",
                    kRunRanks, ++sequence_));
  }
  std::string end() const { return text_ + "\n]}\n"; }

 private:
  void event(const std::string& category, const std::string& name, int thread, int begin, int length,
             const std::string& arguments) {
    text_ += fmt::format(
        "{}\n"
        R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 0, "tid": {}, "ts": {}.125, "dur": {}.250, "args": {{{}}}}})",
        first_ ? "" : ",", category, name, thread, begin, length, arguments);
    first_ = false;
  }

  std::string text_;
  int correlation_ = 0;
  int sequence_ = 0;
  bool first_ = true;
};

}  // namespace

void write_run(const std::filesystem::path& folder, int late_us) {
  std::filesystem::create_directories(folder);
  for (int rank = 0; rank < kRunRanks; ++rank) {
    KinetoFile file(rank);
    for (int step = 0; step < kRunSteps; ++step) {
      const int begin = 1000 + step * kStepUs;
      const int computed = 1000 + rank * 10 + (rank == 2 ? late_us : 0);
      file.step(kFirstStep + step, begin, kStepUs - 1);
      file.kernel("gemm", 7, begin + 100, computed);
      file.all_reduce(begin + 101 + computed, 2399 - computed);
      file.kernel("layer_norm", 7, begin + 2520, 300 + rank);
      file.all_reduce(begin + 2830 + rank, 670 - rank);
    }
    std::ofstream(folder / fmt::format("rank-{}.json", rank)) << file.end();
  }
}

analyzer::Job hostile_job(analyzer::Nanoseconds middle) {
  constexpr int kLongName = 100'000;
  constexpr int kMany = 5'000;
  analyzer::JobBuilder job;
  const std::uint32_t group = job.group(std::string(kLongName, 'g'), {0, 1, 2, 3});
  for (int rank = 0; rank < 3; ++rank) {
    analyzer::RankBuilder& builder = job.rank(rank);
    builder.compute(middle, middle + 1'000'000, std::string(kLongName, 'x'));
    builder.compute(middle + 1'000'000, middle + 1'000'000, "\xff\xfe\x01\n\t%s%n##\x7f");
    for (int i = 0; i < kMany; ++i) builder.compute(middle + 2'000'000, middle + 2'000'000, "identical");
    for (int i = 0; i < kMany; ++i) builder.compute(middle + 3'000'000 + i, middle + 3'000'000 + i, "empty");
    builder.all_reduce(middle + 4'000'000 + rank * 100, middle + 5'000'000)
        .named(std::string(kLongName, 'n'))
        .in_group(group)
        .bytes(1);
    builder.host_range(middle - 500'000, middle + 6'000'000, std::string(kLongName, 'h'));
    for (int i = 0; i < kMany; ++i) builder.host_range(middle, middle, "identical", 1 + i % 40);
    builder.counter(std::string(kLongName, 'c'), middle, 1e300).counter("", middle + 1, -1e300);
    builder.trace().lanes.push_back({trace::LaneKind::device_stream, 8, std::string(kLongName, 'l')});
    // Steps that overlap, of no length, and with numbers of all sizes; none on rank 2.
    if (rank == 2) continue;
    builder.step(-1, middle, middle).step(7, middle, middle + 2'500'000);
    if (rank == 0) builder.step(INT64_MAX, middle + 2'500'000, middle + 5'500'000);
  }
  job.rank(3).all_reduce(middle + 4'000'500, middle + 5'000'000).in_group(group);
  return job.build();
}

analyzer::Job lonely_job(analyzer::Nanoseconds at) {
  analyzer::JobBuilder job;
  job.rank(0).compute(at, at);
  return job.build();
}

}  // namespace lockstep::viewer::journey

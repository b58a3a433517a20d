// Fuzzes what stands in a run folder beside the traces with libFuzzer: the manifest, a clock log and what was
// written of a hang, about two ranks on two clocks whose traces are whole, the whole way to a report. An
// input is these three texts, a zero byte between each and the next.
//
//   cmake --preset fuzz && cmake --build build/fuzz --target run_folder_fuzzer run_folder_fuzzer_seeds
//   build/fuzz/fuzzers/run_folder_fuzzer_seeds CORPUS
//   build/fuzz/fuzzers/run_folder_fuzzer -max_total_time=600 -max_len=16384 CORPUS
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "analyzer/align/align.h"
#include "analyzer/import/import.h"
#include "tests/fuzz/analyze_ranks.h"
#include "tests/temporary_folder.h"
#include "trace/training_trace.h"
#include "trace/writer.h"

namespace lockstep::fuzz {
namespace {

constexpr std::array<std::string_view, 3> kFiles{"manifest.json", "clock-b-1.json", "hang-rank-1.json"};

class Run {
 public:
  Run() {
    write_rank(0, "a");
    write_rank(1, "b");
  }

  void write(std::string_view texts) const {
    for (const std::string_view file : kFiles) {
      const std::size_t end = texts.find('\0');
      std::ofstream(folder_ / std::string(file), std::ios::binary | std::ios::trunc) << texts.substr(0, end);
      texts = end == std::string_view::npos ? std::string_view() : texts.substr(end + 1);
    }
  }
  std::string path() const { return folder_.path().string(); }

 private:
  void write_rank(int rank, const char* clock) const {
    const std::string path = folder_ / ("rank-" + std::to_string(rank) + ".lst");
    Result<trace::Writer> created = trace::Writer::create(path.c_str(), {});
    if (!created.ok()) std::abort();
    trace::Writer writer = std::move(created).value();
    trace::TrainingTrace::describe(writer);
    writer.set_metadata("rank", std::to_string(rank));
    writer.set_metadata("world_size", "2");
    writer.set_metadata("clock_id", clock);
    trace::TrainingTrace::generate(2, static_cast<std::uint64_t>(rank)).append_to(writer);
    writer.append(trace::ClockSnapshot{.time = 0, .realtime = 1'700'000'000'000'000'000});
    if (!writer.close().ok()) std::abort();
  }

  test::TemporaryFolder folder_;
};

}  // namespace
}  // namespace lockstep::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  static const fuzz::Run run;
  run.write({reinterpret_cast<const char*>(data), size});
  Result<analyzer::Job> job = analyzer::import_job({run.path()});
  // Whatever these files hold, the ranks' are whole.
  if (!job.ok() || job.value().ranks.size() != 2) {
    std::fprintf(stderr, "%s\n", job.ok() ? "a rank is lost" : job.error().message.c_str());
    std::abort();
  }
  fuzz::analyze_job(std::move(job).value(), analyzer::Clocks::automatic);
  return 0;
}

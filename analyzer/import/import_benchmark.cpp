// Kineto import and analysis beside what simdjson alone needs for the same file, in one process and in turns,
// so that a busy machine slows both; and the most memory that the import and analysis ever held, in a process
// of its own.
//
// The file is made first and removed at the end. Its size in MB is LOCKSTEP_BENCHMARK_MB, 1100 if that is not
// set.
#include <benchmark/benchmark.h>
#include <simdjson.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "analyzer/analysis.h"
#include "analyzer/import/generated_kineto.h"
#include "analyzer/import/import.h"

namespace lockstep::analyzer {
namespace {

constexpr const char* kChild = "--import-and-say-how-much-memory";
constexpr std::uint64_t kMegabyte = 1'000'000;

struct GeneratedFile {
  std::filesystem::path folder, path;
  GeneratedCounts counts;
};
std::optional<GeneratedFile> generated;  // set by main()

const simdjson::padded_string& text() {
  static const simdjson::padded_string loaded = [] {
    simdjson::padded_string content;
    if (simdjson::padded_string::load(generated->path.string()).get(content) != simdjson::SUCCESS) abort();
    return content;
  }();
  return loaded;
}

// The tree of the whole document. Memory is allocated and touched beforehand: the best case for simdjson.
simdjson::dom::parser& warm_parser() {
  static simdjson::dom::parser parser = [] {
    simdjson::dom::parser fresh;
    if (fresh.parse(text()).error() != simdjson::SUCCESS) abort();
    return fresh;
  }();
  return parser;
}

void parse_tree() {
  if (warm_parser().parse(text()).error() != simdjson::SUCCESS) abort();
}

Job import_generated() {
  Result<Job> job = import_job({generated->path.string()});
  if (!job.ok() ||
      job.value().ranks.at(0).activities.size() != generated->counts.kernels + generated->counts.copies)
    abort();
  return std::move(job).value();
}

void import_and_analyze() {
  const Job job = import_generated();
  const Result<Analysis> analysis = analyze(job);
  if (!analysis.ok()) abort();
  benchmark::DoNotOptimize(analysis.value().report.ranks.size());
}

template <class F>
double seconds(F&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void per_second(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(generated->counts.bytes));
}

void simdjson_tree(benchmark::State& state) {
  warm_parser();
  for (auto _ : state) parse_tree();
  per_second(state);
}
BENCHMARK(simdjson_tree)->Unit(benchmark::kMillisecond);

// Every field of every event visited, no value looked at: the least that any reader does.
void simdjson_on_demand(benchmark::State& state) {
  static simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  if (parser.iterate(text()).get(document) != simdjson::SUCCESS) abort();  // touches its memory
  for (auto _ : state) {
    if (parser.iterate(text()).get(document) != simdjson::SUCCESS) abort();
    std::size_t fields = 0;
    for (auto event : document["traceEvents"]) {
      for (auto field : event.get_object()) {
        if (field.error() != simdjson::SUCCESS) abort();
        ++fields;
      }
    }
    benchmark::DoNotOptimize(fields);
  }
  per_second(state);
}
BENCHMARK(simdjson_on_demand)->Unit(benchmark::kMillisecond);

void import_only(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(import_generated().ranks.size());
  per_second(state);
}
BENCHMARK(import_only)->Unit(benchmark::kMillisecond);

void import_and_analysis(benchmark::State& state) {
  for (auto _ : state) import_and_analyze();
  per_second(state);
}
BENCHMARK(import_and_analysis)->Unit(benchmark::kMillisecond);

// The claim: rate_ratio is at least 0.5.
void import_and_analysis_beside_simdjson(benchmark::State& state) {
  warm_parser();
  double alone = 0, ours = 0;
  for (auto _ : state) {
    const double simdjson_time = seconds(parse_tree);
    const double our_time = seconds(import_and_analyze);
    alone += simdjson_time;
    ours += our_time;
    state.SetIterationTime(simdjson_time + our_time);
  }
  const double gigabytes =
      static_cast<double>(state.iterations()) * static_cast<double>(generated->counts.bytes) / 1e9;
  state.counters["simdjson_GB/s"] = gigabytes / alone;
  state.counters["ours_GB/s"] = gigabytes / ours;
  state.counters["rate_ratio"] = alone / ours;
}
BENCHMARK(import_and_analysis_beside_simdjson)->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(5);

// Kibibytes behind a key of /proc/self/status.
std::uint64_t status_kib(const char* key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(key, 0) == 0) return std::strtoull(line.c_str() + std::strlen(key), nullptr, 10);
  abort();
}

// In a process of its own: the peak of all resident memory. The input is read, not mapped, so that nothing of
// it counts beyond the window.
int memory_child(const char* path) {
  const Result<Job> job = import_job({path});
  if (!job.ok()) return 1;
  const Result<Analysis> analysis = analyze(job.value());
  if (!analysis.ok()) return 1;
  std::printf("%llu\n", static_cast<unsigned long long>(status_kib("VmHWM:")) * 1024);
  return 0;
}

// The claim: memory_ratio is at most 0.2.
void peak_memory(benchmark::State& state) {
  std::uint64_t peak = 0;
  for (auto _ : state) {
    const std::string command = "'" + std::filesystem::canonical("/proc/self/exe").string() + "' " + kChild +
                                " '" + generated->path.string() + "'";
    std::FILE* output = popen(command.c_str(), "r");
    char line[64] = {};
    if (output == nullptr || std::fgets(line, sizeof line, output) == nullptr || pclose(output) != 0) abort();
    peak = std::max<std::uint64_t>(peak, std::strtoull(line, nullptr, 10));
  }
  state.counters["peak_MB"] = static_cast<double>(peak) / 1e6;
  state.counters["memory_ratio"] = static_cast<double>(peak) / static_cast<double>(generated->counts.bytes);
}
BENCHMARK(peak_memory)->Unit(benchmark::kMillisecond)->Iterations(1);

bool generate() {
  const char* const wanted = std::getenv("LOCKSTEP_BENCHMARK_MB");
  const std::uint64_t megabytes = wanted == nullptr ? 1100 : std::strtoull(wanted, nullptr, 10);
  std::string pattern =
      (std::filesystem::temp_directory_path() / "lockstep-import-benchmark-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) return false;
  GeneratedFile file{pattern, std::filesystem::path(pattern) / "rank-0.json", {}};
  const Result<GeneratedCounts> counts = generate_kineto(file.path, {.least_bytes = megabytes * kMegabyte});
  if (!counts.ok()) {
    std::fprintf(stderr, "%s\n", counts.error().message.c_str());
    std::filesystem::remove_all(file.folder);
    return false;
  }
  file.counts = counts.value();
  generated = file;
  std::printf("generated: %.1f MB of Kineto JSON, %llu events, %llu kernels\n",
              static_cast<double>(file.counts.bytes) / 1e6,
              static_cast<unsigned long long>(file.counts.events),
              static_cast<unsigned long long>(file.counts.kernels));
  return true;
}

}  // namespace
}  // namespace lockstep::analyzer

int main(int argc, char** argv) {
  using namespace lockstep::analyzer;
  if (argc == 3 && std::strcmp(argv[1], kChild) == 0) return memory_child(argv[2]);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  if (!generate()) return 1;
  benchmark::RunSpecifiedBenchmarks();
  std::filesystem::remove_all(generated->folder);
  return 0;
}

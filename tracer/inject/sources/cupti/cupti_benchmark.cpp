// What a kernel costs: on the application's thread, asking for a buffer and bringing it back; on the writer
// thread, its records; on the disk, its bytes. CUPTI's own cost is not in here: it needs a GPU.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <vector>

#include "tracer/inject/sources/cupti/activity_events.h"
#include "tracer/inject/sources/cupti/buffer_pool.h"
#include "tracer/inject/sources/cupti/stand_in/records.h"

namespace {

using namespace lockstep;       // NOLINT(google-build-using-namespace)
using namespace tracer::cupti;  // NOLINT(google-build-using-namespace)

constexpr std::uint32_t kVersion = 130001;
constexpr std::size_t kLaunches = 2000;  // in a buffer

// In CUPTI's words, by the sizes of its records.
CUptiResult CUPTIAPI next_record(std::uint8_t* buffer, std::size_t bytes, CUpti_Activity** record) {
  std::size_t at = 0;
  if (*record != nullptr) {
    at = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(*record) - buffer) +
         stand_in::record_bytes((*record)->kind, kVersion);
  }
  if (at >= bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(buffer + at);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI call_name(CUpti_CallbackDomain domain, std::uint32_t call, const char** name) {
  *name = "cudaLaunchKernel_v7000";
  const bool is_launch =
      domain == CUPTI_CB_DOMAIN_RUNTIME_API && call == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
  return is_launch ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

// Launches as a training step makes them: a few dozen kernels in turn, 5 µs each with noise, launched some
// 4 µs apart, queued up.
class Launches {
 public:
  Launches() : now_(static_cast<std::uint64_t>(tracer::read_monotonic()) - 100'000'000'000U), device_(now_) {}

  std::vector<std::uint8_t> buffer() {
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i < kLaunches; ++i) {
      ++correlation_;
      CUpti_ActivityAPI call{};
      call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
      call.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
      call.start = now_ += 500 + random_() % 400;
      call.end = now_ += 3000 + random_() % 1500;
      call.threadId = 1;
      call.correlationId = correlation_;
      append(bytes, call);
      CUpti_ActivityKernel10 kernel{};
      kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
      kernel.start = device_ = std::max(device_ + 900 + random_() % 200, now_ + 2000);
      kernel.end = device_ += 4000 + random_() % 2000;
      kernel.streamId = 7;
      kernel.correlationId = correlation_;
      kernel.name = kNames[i % kNames.size()];
      append(bytes, kernel);
    }
    return bytes;
  }

 private:
  template <class Record>
  static void append(std::vector<std::uint8_t>& bytes, const Record& record) {
    const auto* const data = reinterpret_cast<const std::uint8_t*>(&record);
    bytes.insert(bytes.end(), data, data + sizeof record);
  }
  static constexpr std::array kNames{"_Z6matmulPfi", "_Z4normPf", "_Z4geluPf", "triton_poi_fused_add_0",
                                     "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"};
  std::mt19937 random_{7};
  std::uint64_t now_;
  std::uint64_t device_;
  std::uint32_t correlation_ = 0;
};

void lend_and_bring_back(benchmark::State& state) {
  static auto* const pool = new BufferPool;
  (void)pool->reserve(BufferPool::kDefaultBudget);
  for (auto _ : state) {
    const BufferPool::Lent lent = pool->lend(0);
    benchmark::DoNotOptimize(lent.data);
    pool->bring_back(lent.data, 0);
  }
  state.SetLabel(fmt::format("once in {} launches", pool->buffer_bytes() / 256));
}
BENCHMARK(lend_and_bring_back);

void write_records(benchmark::State& state) {
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("lockstep-cupti-{}.lst", getpid())).string();
  Api api;
  api.get_next_record = next_record;
  api.get_callback_name = call_name;
  ApiSelection selection;
  selection.read(api);
  auto writer = trace::Writer::create(path.c_str(), {.exclusive = false});
  if (!writer.ok()) return state.SkipWithError("no file");
  trace::Writer file = std::move(writer).value();
  tracer::ProcessInfo process;
  process.process = getpid();
  Launches launches;
  process.first_reading = tracer::read_clocks(tracer::TickSource::monotonic);
  process.first_reading.monotonic -= 200'000'000'000;
  tracer::ClockConverter clock;
  tracer::HostLanes lanes(file, 1);
  tracer::SourceContext context{file, clock, process, lanes};
  ActivityEvents events(context, api, selection, false);
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<std::uint8_t> buffer = launches.buffer();
    state.ResumeTiming();
    events.read(buffer.data(), buffer.size(), 1, 0);
  }
  events.end_drain(process.first_reading.monotonic);
  (void)file.close().ok();
  state.SetItemsProcessed(static_cast<std::int64_t>(events.records()));
  state.counters["ns/record"] = benchmark::Counter(static_cast<double>(events.records()) * 1e-9,
                                                   benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["bytes/event"] =
      static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(file.events_appended());
  std::filesystem::remove(path);
}
BENCHMARK(write_records)->Iterations(200);

}  // namespace

BENCHMARK_MAIN();

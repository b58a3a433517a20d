#include "tracer/inject/sources/cupti/stand_in/program.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <vector>

#include "trace/events/launch_shape.h"

namespace stand_in_program {

namespace {

void* cupti_library = nullptr;
std::mutex log_mutex;
std::vector<std::string> log_lines;

std::uint64_t now() {
  return CONTROL(stand_in_now)();
}

std::uint32_t thread() {
  return static_cast<std::uint32_t>(gettid());
}

// A record was handed in: what should come of it.
void expect(int result, const std::string& line) {
  if (result == 1) log_line(line);
  if (result < 0) log_line("dropped");
}

std::string device_line(const Place& place, std::uint64_t begin, std::uint64_t end, const std::string& name,
                        const char* kind, std::uint64_t bytes, std::uint32_t correlation,
                        lockstep::trace::LaunchShape shape = {}) {
  return "D " + std::to_string(place.device) + " " + std::to_string(place.stream) + " " +
         std::to_string(begin) + " " + std::to_string(end) + " " + kind + " " + std::to_string(bytes) + " " +
         std::to_string(correlation) + " " + std::to_string(shape.hash) + " " + std::to_string(shape.warps) +
         " " + name;
}

void record_call(CUpti_ActivityKind kind, std::uint32_t call, const char* name, std::uint32_t correlation,
                 std::uint64_t begin, bool recorded) {
  CUpti_ActivityAPI record{};
  record.kind = kind;
  record.cbid = call;
  record.start = begin;
  record.end = now();
  record.processId = static_cast<std::uint32_t>(getpid());
  record.threadId = thread();
  record.correlationId = correlation;
  const int result = CONTROL(stand_in_record)(&record);
  if (!recorded) return;
  expect(result, "C " + std::to_string(thread()) + " " + std::to_string(record.start) + " " +
                     std::to_string(record.end) + " " + std::to_string(correlation) + " " + name);
}

const char* class_of(const std::string& kernel) {
  if (kernel.find("SendRecv") != std::string::npos) return "p2p";
  return kernel.starts_with("nccl") ? "collective" : "compute";
}

std::string demangled(const std::string& kernel) {
  return kernel == "_Z6matmulPfi" ? "matmul(float*, int)" : kernel;
}

CUpti_ActivityKernel10 kernel_record(const Place& place, const char* kernel, std::uint32_t correlation) {
  CUpti_ActivityKernel10 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.deviceId = place.device;
  record.contextId = place.context;
  record.streamId = place.stream;
  record.correlationId = correlation;
  record.name = kernel;
  record.gridX = static_cast<std::int32_t>(correlation);
  record.gridY = 3;
  record.gridZ = 1;
  record.blockX = 256;
  record.blockY = 2;
  record.blockZ = 1;
  return record;
}

lockstep::trace::LaunchShape shape_of_kernel(std::uint32_t correlation) {
  return lockstep::trace::launch_shape({correlation, 3, 1, 256, 2, 1});
}

void run_kernel(const Place& place, const char* kernel, std::uint32_t correlation, std::uint64_t node) {
  CUpti_ActivityKernel10 record = kernel_record(place, kernel, correlation);
  record.start = now();
  record.end = record.start + 5000;
  record.graphId = node == 0 ? 0 : 3;
  record.graphNodeId = node;
  expect(CONTROL(stand_in_record)(&record),
         device_line(place, record.start, record.end, demangled(kernel), class_of(kernel), 0, correlation,
                     shape_of_kernel(correlation)));
}

}  // namespace

void* cupti_function(const char* name) {
  void* const function = cupti_library != nullptr ? dlsym(cupti_library, name) : nullptr;
  if (function == nullptr) {
    std::fprintf(stderr, "no %s\n", name);
    _exit(9);
  }
  return function;
}

bool initialize_cuda() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (driver == nullptr) _exit(8);
  const auto initialize = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  initialize(0);
  for (const char* name : {"libcupti.so.13", "libcupti.so.12"}) {
    if (cupti_library == nullptr) cupti_library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
  }
  return cupti_library != nullptr;
}

void launch(const Place& place, const char* kernel, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t correlation = CONTROL(stand_in_next_correlation)();
    record_call(CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
                "cudaLaunchKernel", correlation, now(), true);
    run_kernel(place, kernel, correlation, 0);
  }
}

void launch_graph(const Place& place, const char* kernel, std::uint32_t nodes) {
  const std::uint32_t correlation = CONTROL(stand_in_next_correlation)();
  record_call(CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, "cudaGraphLaunch",
              correlation, now(), true);
  for (std::uint32_t node = 1; node <= nodes; ++node) run_kernel(place, kernel, correlation, node);
}

void copy(const Place& place, std::uint64_t bytes) {
  const std::uint32_t correlation = CONTROL(stand_in_next_correlation)();
  record_call(CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, "cudaMemcpyAsync",
              correlation, now(), true);
  CUpti_ActivityMemcpy6 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  record.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
  record.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.bytes = bytes;
  record.start = now();
  record.end = record.start + 700;
  record.deviceId = place.device;
  record.contextId = place.context;
  record.streamId = place.stream;
  record.correlationId = correlation;
  expect(CONTROL(stand_in_record)(&record),
         device_line(place, record.start, record.end, "Memcpy HtoD (Pinned -> Device)", "copy", bytes,
                     correlation));
}

void copy_to_peer(const Place& place, std::uint32_t to_device, std::uint64_t bytes) {
  CUpti_ActivityMemcpyPtoP4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  record.bytes = bytes;
  record.start = now();
  record.end = record.start + 900;
  record.deviceId = record.srcDeviceId = place.device;
  record.contextId = place.context;
  record.streamId = place.stream;
  record.dstDeviceId = to_device;
  record.correlationId = CONTROL(stand_in_next_correlation)();
  const std::string name =
      "Memcpy PtoP (GPU " + std::to_string(place.device) + " -> GPU " + std::to_string(to_device) + ")";
  expect(CONTROL(stand_in_record)(&record),
         device_line(place, record.start, record.end, name, "copy", bytes, record.correlationId));
}

void fill(const Place& place, std::uint64_t bytes) {
  CUpti_ActivityMemset4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  record.bytes = bytes;
  record.start = now();
  record.end = record.start + 300;
  record.deviceId = place.device;
  record.contextId = place.context;
  record.streamId = place.stream;
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.correlationId = CONTROL(stand_in_next_correlation)();
  expect(CONTROL(stand_in_record)(&record), device_line(place, record.start, record.end, "Memset (Device)",
                                                        "copy", bytes, record.correlationId));
}

void wait_for_stream(const Place& place) {
  CUpti_ActivitySynchronization2 record{};
  record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  record.start = now();
  record.end = record.start + 100;
  record.contextId = place.context;
  record.streamId = place.stream;
  record.cudaEventId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  record.correlationId = CONTROL(stand_in_next_correlation)();
  const Place lane{place.device, place.context, CUPTI_SYNCHRONIZATION_INVALID_VALUE};
  expect(CONTROL(stand_in_record)(&record),
         device_line(lane, record.start, record.end,
                     "Stream Synchronize (stream " + std::to_string(place.stream) + ")", "sync", 0,
                     record.correlationId));
}

void call_runtime(std::uint32_t call, const char* name, bool recorded) {
  record_call(CUPTI_ACTIVITY_KIND_RUNTIME, call, name, CONTROL(stand_in_next_correlation)(), now(), recorded);
}

std::uint32_t start_kernel(const Place& place, const char* kernel) {
  const std::uint32_t correlation = CONTROL(stand_in_next_correlation)();
  const CUpti_ActivityKernel10 record = kernel_record(place, kernel, correlation);
  if (CONTROL(stand_in_begin)(&record) != 1) _exit(7);
  return correlation;
}

void finish_kernel(const Place& place, const char* kernel, std::uint32_t correlation) {
  const std::uint64_t end = now();
  log_line(device_line(place, end - 10, end, demangled(kernel), class_of(kernel), 0, correlation,
                       shape_of_kernel(correlation)));
  CONTROL(stand_in_finish)(correlation, end - 10, end);
}

void record_unknown(int kind) {
  struct {
    std::uint32_t kind;
    std::uint32_t rest[15];
  } record{};
  record.kind = static_cast<std::uint32_t>(kind);
  CONTROL(stand_in_record)(&record);
}

void log_line(const std::string& line) {
  const std::lock_guard lock(log_mutex);
  log_lines.push_back(line);
}

void write_log(const char* path) {
  const std::lock_guard lock(log_mutex);
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) _exit(6);
  for (const std::string& line : log_lines) std::fprintf(file, "%s\n", line.c_str());
  std::fclose(file);
}

void wait_a_moment() {
  static std::time_t deadline = std::time(nullptr) + 60;
  if (std::time(nullptr) > deadline) {
    std::fprintf(stderr, "waited for a minute\n");
    _exit(5);
  }
  usleep(2000);
}

}  // namespace stand_in_program

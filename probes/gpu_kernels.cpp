// Work for a GPU whose outcome is known, for scripts/gpu_check: `gpu_kernels WHAT`. Only the CUDA driver is
// used, and loaded when the program runs: it builds without a GPU and without nvcc.
//
//   durations       kernels of 10 to 1000 µs, each between two CUDA events; prints what was asked for and the
//                   time between its events, one line each in ns
//   graph           a CUDA graph of 10 kernels, launched 20 times
//   launches [NS]   10,000 kernels of 5 µs (or NS ns), launched as fast as it goes; prints the ns per launch
//
// Exit code 77: there is no GPU here; the reason stands on stderr.
#include <cuda.h>
#include <dlfcn.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>

namespace {

constexpr int kNoGpu = 77;

// Runs for as many nanoseconds as it is told, by the GPU's own clock.
constexpr const char* kSpin = R"(
.version 6.3
.target sm_70
.address_size 64
.visible .entry lockstep_spin(.param .u64 nanoseconds)
{
  .reg .u64 %begin, %now, %wanted, %passed;
  .reg .pred %on;
  ld.param.u64 %wanted, [nanoseconds];
  mov.u64 %begin, %globaltimer;
AGAIN:
  mov.u64 %now, %globaltimer;
  sub.u64 %passed, %now, %begin;
  setp.lt.u64 %on, %passed, %wanted;
  @%on bra AGAIN;
  ret;
}
)";

[[noreturn]] void no_gpu(const char* reason) {
  std::fprintf(stderr, "%s\n", reason);
  std::exit(kNoGpu);
}

void* driver = nullptr;

template <class Function>
Function look_up(const char* name) {
  void* const function = dlsym(driver, name);
  if (function == nullptr) no_gpu((std::string("the driver lacks ") + name).c_str());
  return reinterpret_cast<Function>(function);
}
#define DRIVER_TEXT(name) #name
#define DRIVER_NAME(name) DRIVER_TEXT(name)
// By the name that the header gives the function now, with its version.
#define CALL(function, ...) check(look_up<decltype(&function)>(DRIVER_NAME(function))(__VA_ARGS__), #function)

void check(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s failed: error %d\n", call, static_cast<int>(result));
  std::exit(result == CUDA_ERROR_NO_DEVICE ? kNoGpu : 1);
}

struct Gpu {
  Gpu() {
    driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (driver == nullptr) no_gpu("there is no CUDA driver (libcuda.so.1)");
    CALL(cuInit, 0);
    int count = 0;
    CALL(cuDeviceGetCount, &count);
    if (count == 0) no_gpu("the driver finds no GPU");
    CUdevice device = 0;
    CALL(cuDeviceGet, &device, 0);
    CUcontext context = nullptr;
    CALL(cuDevicePrimaryCtxRetain, &context, device);
    CALL(cuCtxSetCurrent, context);
    CALL(cuModuleLoadData, &module, kSpin);
    CALL(cuModuleGetFunction, &spin, module, "lockstep_spin");
    CALL(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
    launch = look_up<decltype(&cuLaunchKernel)>("cuLaunchKernel");
  }

  void run(unsigned long long nanoseconds) const {
    std::array<void*, 1> parameters{&nanoseconds};
    check(launch(spin, 1, 1, 1, 1, 1, 1, 0, stream, parameters.data(), nullptr), "cuLaunchKernel");
  }
  void wait() const { CALL(cuStreamSynchronize, stream); }

  CUmodule module = nullptr;
  CUfunction spin = nullptr;
  CUstream stream = nullptr;
  decltype(&cuLaunchKernel) launch = nullptr;
};

void durations(const Gpu& gpu) {
  CUevent before = nullptr;
  CUevent after = nullptr;
  CALL(cuEventCreate, &before, CU_EVENT_DEFAULT);
  CALL(cuEventCreate, &after, CU_EVENT_DEFAULT);
  gpu.run(1000);  // cold
  gpu.wait();
  for (int round = 0; round < 20; ++round) {
    for (const unsigned long long wanted : {10'000ULL, 50'000ULL, 200'000ULL, 1'000'000ULL}) {
      // The GPU is busy until all three are there: the events stand close to the kernel.
      gpu.run(100'000);
      CALL(cuEventRecord, before, gpu.stream);
      gpu.run(wanted);
      CALL(cuEventRecord, after, gpu.stream);
      gpu.wait();
      float milliseconds = 0;
      CALL(cuEventElapsedTime, &milliseconds, before, after);
      std::printf("%llu %lld\n", wanted, static_cast<long long>(static_cast<double>(milliseconds) * 1e6));
    }
  }
}

void graph(const Gpu& gpu) {
  CUgraph captured = nullptr;
  CUgraphExec executable = nullptr;
  CALL(cuStreamBeginCapture, gpu.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  for (int node = 0; node < 10; ++node) gpu.run(5000);
  CALL(cuStreamEndCapture, gpu.stream, &captured);
  CALL(cuGraphInstantiateWithFlags, &executable, captured, 0);
  for (int i = 0; i < 20; ++i) CALL(cuGraphLaunch, executable, gpu.stream);
  gpu.wait();
}

void launches(const Gpu& gpu, unsigned long long nanoseconds) {
  constexpr int kLaunches = 10'000;
  gpu.run(nanoseconds);
  gpu.wait();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kLaunches; ++i) gpu.run(nanoseconds);
  gpu.wait();
  const std::chrono::nanoseconds passed = std::chrono::steady_clock::now() - begin;
  std::printf("%lld\n", static_cast<long long>(passed.count() / kLaunches));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  unsigned long long nanoseconds = 5000;
  bool is_right = argc == 2 && (what == "durations" || what == "graph" || what == "launches");
  if (argc == 3 && what == "launches") {
    char* end = nullptr;
    nanoseconds = std::strtoull(argv[2], &end, 10);
    is_right = end != argv[2] && *end == '\0' && nanoseconds > 0;
  }
  if (!is_right) {
    std::fprintf(stderr, "usage: gpu_kernels durations|graph|launches [NS]\n");
    return 2;
  }
  const Gpu gpu;
  if (what == "durations") durations(gpu);
  if (what == "graph") graph(gpu);
  if (what == "launches") launches(gpu, nanoseconds);
  return 0;
}

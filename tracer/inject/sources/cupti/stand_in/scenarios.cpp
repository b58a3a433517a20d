// A program that uses CUDA, as far as its tools can tell: `cupti_program SCENARIO LOG`. What it did goes into
// the log; the test compares that with the recording.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tracer/inject/sources/cupti/stand_in/program.h"

using namespace stand_in_program;  // NOLINT(google-build-using-namespace): its only user

namespace {

constexpr const char* kMatmul = "_Z6matmulPfi";
constexpr const char* kAllReduce =
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
constexpr const char* kSendRecv = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
const char* log_path = nullptr;

void everything() {
  for (std::uint32_t device = 0; device < 2; ++device) {
    CUpti_ActivityContext context{};
    context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
    context.deviceId = device;
    context.contextId = 1 + device * 2;
    CONTROL(stand_in_record)(&context);
    ++context.contextId;
    CONTROL(stand_in_record)(&context);
  }
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 3; ++t) {
    threads.emplace_back([t] {
      for (std::uint32_t i = 0; i < 400; ++i) {
        const std::uint32_t device = i % 2;
        const Place place{device, 1 + device * 2 + i / 2 % 2, 7 + t};
        launch(place, kMatmul);
        launch(place, i % 3 == 0 ? kAllReduce : kSendRecv);
        copy(place, i * 1000);
        copy_to_peer(place, 1 - device, i);
        fill(place, i);
        wait_for_stream(place);
        call_runtime(CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020, "cudaGetDevice", false);
        call_runtime(CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, "cudaDeviceSynchronize", true);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void all_calls() {
  for (int i = 0; i < 100; ++i) {
    launch({}, kMatmul);
    call_runtime(CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020, "cudaGetDevice", true);
  }
  // A flush in between: what the session does itself is in no recording.
  const std::uint64_t before = CONTROL(stand_in_flushes)();
  wait_until([&] { return CONTROL(stand_in_flushes)() > before + 1; });
}

void graph() {
  for (int i = 0; i < 20; ++i) launch_graph({}, kMatmul, 50);
}

// Buffers fill faster than CUPTI passes them on.
void pressure() {
  CONTROL(stand_in_hold)();
  launch({}, kMatmul, 20000);
  CONTROL(stand_in_release)(0);
  launch({}, kAllReduce, 100);
}

// More threads than buffers, each of which holds one.
void threads() {
  std::vector<std::thread> all;
  all.reserve(200);
  for (int t = 0; t < 200; ++t) {
    all.emplace_back([] { launch({}, kMatmul, 20); });
  }
  for (std::thread& thread : all) thread.join();
}

// Buffers come back late and in the wrong order; one is not complete for long.
void late() {
  const std::uint32_t long_one = start_kernel({0, 1, 13}, kAllReduce);
  CONTROL(stand_in_hold)();
  launch({}, kMatmul, 8000);
  CONTROL(stand_in_release)(1);
  const std::uint64_t before = CONTROL(stand_in_flushes)();
  wait_until([&] { return CONTROL(stand_in_flushes)() > before; });
  finish_kernel({0, 1, 13}, kAllReduce, long_one);
}

void unfinished() {
  launch({}, kMatmul, 10);
  start_kernel({}, kAllReduce);
  log_line("unfinished");
}

void unknown() {
  launch({}, kMatmul, 10);
  // Enabled by somebody else.
  cupti<decltype(&cuptiActivityEnable)>("cuptiActivityEnable")(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  for (int i = 0; i < 3; ++i) record_unknown(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  launch({}, kMatmul, 10);
  record_unknown(999);  // and one that CUPTI itself does not know: at the end of its buffer
}

// --- another owner of CUPTI ---

// Never destroyed: CUPTI may hold some of them when the program ends.
auto& foreign_buffers = *new std::vector<std::uint8_t*>;
std::uint64_t foreign_bytes = 0;

void foreign_request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most) {
  *bytes = 1U << 16U;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *bytes));
  *most = 0;
  foreign_buffers.push_back(*buffer);
}

void foreign_complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  for (std::uint8_t* const known : foreign_buffers) {
    if (known == buffer) foreign_bytes += valid;
  }
}

// Runs, but is not ours.
void launch_for_another(int count) {
  CUpti_ActivityKernel10 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.name = "another's";
  record.start = record.end = 1;
  for (int i = 0; i < count; ++i) CONTROL(stand_in_record)(&record);
}

const void* foreign_callbacks() {
  return reinterpret_cast<const void*>(&foreign_request);
}

// The recording may have ended.
void settle_at_most_a_second() {
  const std::uint64_t before = CONTROL(stand_in_flushes)();
  const std::time_t deadline = std::time(nullptr) + 1;
  wait_until([&] { return CONTROL(stand_in_flushes)() > before + 1 || std::time(nullptr) > deadline; });
}

// What is in buffers is passed on first: it would go to the other.
void settle() {
  const std::uint64_t before = CONTROL(stand_in_flushes)();
  wait_until([&] { return CONTROL(stand_in_flushes)() > before + 1; });
}

void take_over() {
  cupti<decltype(&cuptiActivityRegisterCallbacks)>("cuptiActivityRegisterCallbacks")(foreign_request,
                                                                                     foreign_complete);
}

void kineto() {
  void* const torch = dlopen("libtorch_cpu.so", RTLD_NOW);
  if (torch == nullptr) _exit(4);
  const auto set_active = reinterpret_cast<void (*)(int)>(dlsym(torch, "stand_in_set_active"));
  const auto asked = reinterpret_cast<unsigned long (*)()>(dlsym(torch, "stand_in_times_asked"));
  for (int round = 0; round < 3; ++round) {
    launch({}, kMatmul, 500);
    settle();
    set_active(1);
    take_over();
    const unsigned long before = asked();
    wait_until([&] { return asked() > before + 3; });
    launch_for_another(1000);
    if (CONTROL(stand_in_callbacks)() != foreign_callbacks()) _exit(3);  // taken away from it
    // As Kineto ends: its kinds off, all buffers back to it.
    cupti<decltype(&cuptiActivityDisable)>("cuptiActivityDisable")(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    cupti<decltype(&cuptiActivityFlushAll)>("cuptiActivityFlushAll")(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    set_active(0);
    wait_until([] { return CONTROL(stand_in_callbacks)() != foreign_callbacks(); });
    settle();
    launch({}, kAllReduce, 500);
    settle();
  }
  if (foreign_bytes != 3 * 1000 * sizeof(CUpti_ActivityKernel10)) _exit(2);
}

// Nobody can ask this one whether it is done: CUPTI stays its own.
void foreign() {
  launch({}, kMatmul, 500);
  settle();
  settle();
  const std::uint64_t before = CONTROL(stand_in_flushes)();
  take_over();
  // Four flushes that bring nothing tell; a fifth comes if the first of them was on its way already.
  const std::time_t deadline = std::time(nullptr) + 5;
  wait_until([&] {
    const std::uint64_t flushes = CONTROL(stand_in_flushes)();
    return flushes >= before + 5 || (flushes >= before + 4 && std::time(nullptr) >= deadline);
  });
  launch_for_another(100);
  if (CONTROL(stand_in_callbacks)() != foreign_callbacks()) _exit(3);
}

void finalize() {
  for (int round = 0; round < 2; ++round) {
    launch({}, kMatmul, 500);
    settle();
    cupti<decltype(&cuptiFinalize)>("cuptiFinalize")();
    wait_until([] { return CONTROL(stand_in_callbacks)() != nullptr; });
    settle();
    launch({}, kAllReduce, 500);
    settle();
  }
}

// A neighbour's clock: time since 1970.
void foreign_clock() {
  launch({}, kMatmul, 100);
  cupti<decltype(&cuptiActivityRegisterTimestampCallback)>("cuptiActivityRegisterTimestampCallback")(
      []() -> std::uint64_t { return 1'700'000'000'000'000'000U; });
  launch({}, kMatmul, 100);
}

// --- ends of processes ---

void fork_in_between() {
  launch({}, kMatmul, 300);
  const pid_t child = fork();
  if (child == 0) {
    usleep(300'000);  // time to do something wrong
    std::exit(CONTROL(stand_in_calls_in_other_processes)() == 0 ? 0 : 1);
  }
  launch({}, kAllReduce, 300);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) _exit(12);
  launch({}, kSendRecv, 300);
}

void exit_on_a_thread() {
  launch({}, kMatmul, 100);
  std::thread([] {
    launch({}, kAllReduce, 100);
    write_log(log_path);
    std::exit(21);
  }).join();
}

void hang() {
  launch({}, kMatmul, 100);
  settle();
  CONTROL(stand_in_hang)();
}

// Killed by the test when it has seen all that was launched.
void until_killed() {
  launch({}, kMatmul, 1000);
  write_log(log_path);
  while (true) pause();
}

void full_disk() {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlim_t before = std::exchange(limit.rlim_cur, 65536);
  setrlimit(RLIMIT_FSIZE, &limit);
  for (int i = 0; i < 8; ++i) {
    launch({}, kMatmul, 5000);
    settle_at_most_a_second();
  }
  limit.rlim_cur = before;  // for the log
  setrlimit(RLIMIT_FSIZE, &limit);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 64;
  const std::string scenario = argv[1];
  log_path = argv[2];
  const std::map<std::string, std::function<void()>> scenarios{
      {"everything", everything},     {"all_calls", all_calls},   {"graph", graph},
      {"pressure", pressure},         {"threads", threads},       {"late", late},
      {"unfinished", unfinished},     {"unknown", unknown},       {"kineto", kineto},
      {"foreign", foreign},           {"finalize", finalize},     {"clock", foreign_clock},
      {"fork", fork_in_between},      {"exit", exit_on_a_thread}, {"hang", hang},
      {"until_killed", until_killed}, {"full_disk", full_disk},   {"nothing", [] {}}};
  const auto found = scenarios.find(scenario);
  if (found == scenarios.end()) return 65;
  const bool has_cupti = initialize_cuda();
  if (has_cupti) found->second();
  write_log(log_path);
  return 21;  // its own exit code, which the recorder must not touch
}

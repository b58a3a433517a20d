// NVML of a node with four GPUs that does not exist: the names, signatures and numbers of the real library.
// NVML_STAND_IN_ERROR is what nvmlInit_v2 returns.
//
// GPU n has an SM clock of 1900 + n MHz, draws 250 + n W and is 60 + n °C warm. GPU 0 is held back by its
// power cap, GPU 1 by its temperature, GPU 2 by the power brake; GPU 3 idles and has no ECC. ECC and replay
// counters grow by 3 and by 1 with every question.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr unsigned kGpus = 4;
constexpr int kNotSupported = 3;
constexpr int kInvalidArgument = 2;
constexpr int kNotFound = 6;
constexpr int kUninitialized = 1;

struct Gpu {
  unsigned number;
  std::atomic<unsigned> replays{5};
  std::atomic<unsigned long long> ecc{7};
};
Gpu gpus[kGpus] = {{0}, {1}, {2}, {3}};
std::atomic<bool> initialized{false};

Gpu* gpu(void* device) {
  return initialized ? static_cast<Gpu*>(device) : nullptr;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  const char* const error = std::getenv("NVML_STAND_IN_ERROR");
  if (error != nullptr) return std::atoi(error);
  initialized = true;
  return 0;
}
int nvmlShutdown() {
  initialized = false;
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  if (!initialized) return kUninitialized;
  *count = kGpus;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (!initialized) return kUninitialized;
  if (index >= kGpus) return kInvalidArgument;
  *device = &gpus[index];
  return 0;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  const std::string prefix = "GPU-stand-in-";
  if (std::strncmp(uuid, prefix.c_str(), prefix.size()) != 0) return kNotFound;
  return nvmlDeviceGetHandleByIndex_v2(static_cast<unsigned>(std::atoi(uuid + prefix.size())), device);
}
int nvmlDeviceGetIndex(void* device, unsigned* index) {
  *index = gpu(device)->number;
  return 0;
}
int nvmlDeviceGetClockInfo(void* device, unsigned type, unsigned* megahertz) {
  if (type > 2) return kInvalidArgument;
  *megahertz = (type == 2 ? 2600 : 1900) + gpu(device)->number;
  return 0;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  *milliwatts = (250 + gpu(device)->number) * 1000;
  return 0;
}
int nvmlDeviceGetTemperature(void* device, unsigned sensor, unsigned* celsius) {
  if (sensor != 0) return kInvalidArgument;
  *celsius = 60 + gpu(device)->number;
  return 0;
}
int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* reasons) {
  constexpr unsigned long long kReasons[kGpus] = {0x4, 0x40, 0x88, 0x1};
  *reasons = kReasons[gpu(device)->number];
  return 0;
}
int nvmlDeviceGetTotalEccErrors(void* device, unsigned type, unsigned counter, unsigned long long* errors) {
  if (type > 1 || counter > 1) return kInvalidArgument;
  if (gpu(device)->number == 3) return kNotSupported;
  *errors = type == 0 ? gpu(device)->ecc.fetch_add(3) : 0;
  return 0;
}
int nvmlDeviceGetPcieReplayCounter(void* device, unsigned* replays) {
  *replays = gpu(device)->replays.fetch_add(1);
  return 0;
}
}

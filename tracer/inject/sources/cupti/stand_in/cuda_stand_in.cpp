// The stand-in libcuda.so.1: cuInit loads the injected library as the driver does, and what it records goes
// through the stand-in libcupti, if that is in the process.
#include <cupti.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

extern "C" {

__attribute__((visibility("default"))) CUresult CUDAAPI cuInit(unsigned) {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || std::strcmp(path, "none") == 0) return CUDA_SUCCESS;
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return CUDA_SUCCESS;
  const auto initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (initialize != nullptr) initialize();
  return CUDA_SUCCESS;
}

// A machine with two GPUs, the second one a slice of a third.
__attribute__((visibility("default"))) CUresult CUDAAPI cuDeviceGetCount(int* count) {
  *count = 2;
  return CUDA_SUCCESS;
}
__attribute__((visibility("default"))) CUresult CUDAAPI cuDeviceGet(CUdevice* device, int number) {
  *device = number;
  return CUDA_SUCCESS;
}
#undef cuDeviceGetUuid
__attribute__((visibility("default"))) CUresult CUDAAPI cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  for (int i = 0; i < 16; ++i) uuid->bytes[i] = static_cast<char>(16 * device + i);
  return CUDA_SUCCESS;
}
__attribute__((visibility("default"))) CUresult CUDAAPI cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  for (int i = 0; i < 16; ++i) uuid->bytes[i] = static_cast<char>((device == 1 ? 0xA0 : 0) + i);
  return CUDA_SUCCESS;
}

__attribute__((visibility("default"))) CUresult CUDAAPI cuDriverGetVersion(int* version) {
  *version = 13000;
  void* cupti = nullptr;
  for (const char* name : {"libcupti.so.13", "libcupti.so.12"}) {
    if (cupti == nullptr) cupti = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  }
  if (cupti == nullptr) return CUDA_SUCCESS;
  const auto record = reinterpret_cast<int (*)(const void*)>(dlsym(cupti, "stand_in_record"));
  const auto now = reinterpret_cast<std::uint64_t (*)()>(dlsym(cupti, "stand_in_now"));
  if (record == nullptr || now == nullptr) return CUDA_SUCCESS;
  CUpti_ActivityAPI call{};
  call.kind = CUPTI_ACTIVITY_KIND_DRIVER;
  call.cbid = CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion;
  call.start = call.end = now();
  call.processId = static_cast<std::uint32_t>(getpid());
  call.threadId = static_cast<std::uint32_t>(gettid());
  record(&call);
  return CUDA_SUCCESS;
}
}

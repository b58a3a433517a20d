#include "tracer/inject/sources/host/nvml.h"

#include <dlfcn.h>

namespace lockstep::tracer::host::nvml {

namespace {

template <class Function>
void find(void* library, const char* name, Function& function) noexcept {
  if (void* const address = dlsym(library, name); address != nullptr) {
    function = reinterpret_cast<Function>(address);
  }
}

}  // namespace

bool find_functions(void* library, Functions& functions) noexcept {
  find(library, "nvmlInit_v2", functions.init);
  find(library, "nvmlDeviceGetCount_v2", functions.count);
  find(library, "nvmlDeviceGetHandleByIndex_v2", functions.by_index);
  find(library, "nvmlDeviceGetHandleByUUID", functions.by_uuid);
  find(library, "nvmlDeviceGetIndex", functions.index);
  find(library, "nvmlDeviceGetClockInfo", functions.clock);
  find(library, "nvmlDeviceGetPowerUsage", functions.power);
  find(library, "nvmlDeviceGetTemperature", functions.temperature);
  // The older name, then the newer one where there is one.
  find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", functions.throttle_reasons);
  find(library, "nvmlDeviceGetCurrentClocksEventReasons", functions.throttle_reasons);
  find(library, "nvmlDeviceGetTotalEccErrors", functions.ecc_errors);
  find(library, "nvmlDeviceGetPcieReplayCounter", functions.pcie_replays);
  return functions.init != nullptr && functions.count != nullptr && functions.by_index != nullptr;
}

}  // namespace lockstep::tracer::host::nvml

// Which calls of the CUDA runtime and driver are recorded: those that launch work or wait for it. A call of
// any other kind (a training process makes many: cudaGetDevice, cudaEventQuery) costs as much to record and
// explains nothing; `--cuda-api all` has them.
#pragma once

#include <cupti.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tracer/inject/sources/cupti/cupti_api.h"

namespace lockstep::tracer::cupti {

// "cudaLaunchKernel" of "cudaLaunchKernel_ptsz_v7000": without the version and the default stream's flavour.
std::string_view plain_call_name(std::string_view name);
// By plain name: launches of kernels, graphs and host functions, copies, fills, and waiting.
bool is_recorded_by_default(std::string_view plain_name);

// The numbers of calls as the loaded CUPTI has them, with their names.
class ApiSelection {
 public:
  void read(const Api& api);

  // Empty where CUPTI has no name for the call. Kinds other than RUNTIME and DRIVER have no calls.
  std::string_view name(CUpti_ActivityKind kind, std::uint32_t call) const;
  bool selected(CUpti_ActivityKind kind, std::uint32_t call) const;
  std::vector<std::uint32_t> all_selected(CUpti_ActivityKind kind) const;

 private:
  // CUDA 13 has some 500 in the runtime and 800 in the driver.
  static constexpr std::uint32_t kMaxCalls = 4096;
  struct Call {
    std::string name;
    bool selected = false;
  };
  const Call* find(CUpti_ActivityKind kind, std::uint32_t call) const;

  std::array<std::vector<Call>, 2> calls_;  // runtime, driver
};

}  // namespace lockstep::tracer::cupti

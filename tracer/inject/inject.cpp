#include "tracer/inject/inject.h"

#include "tracer/inject/core/source.h"
#include "tracer/inject/sources/cupti/cupti_source.h"
#include "tracer/inject/sources/host/host_source.h"
#include "tracer/inject/sources/nccl/nccl_source.h"
#include "tracer/inject/sources/nvtx/callbacks.h"
#include "tracer/inject/sources/scheduling/scheduling_source.h"
#include "tracer/inject/writer/prepare.h"

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
  if (!lockstep::tracer::prepare()) return 0;
  lockstep::tracer::host::register_if_wanted();
  lockstep::tracer::scheduling::register_if_wanted();
  lockstep::tracer::nccl::register_source();  // libnccl may be a copy that only makes NVTX ranges
  if (!lockstep::tracer::is_wanted("nvtx")) return 0;
  return lockstep::tracer::nvtx::install_core_callbacks(get_export_table) ? 1 : 0;
}

int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  if (!lockstep::tracer::prepare() || !lockstep::tracer::is_wanted("nvtx")) return 0;
  return lockstep::tracer::nvtx::install_extension_callbacks(module) ? 1 : 0;
}

int InitializeInjection(void) {
  lockstep::tracer::host::register_if_wanted();
  lockstep::tracer::scheduling::register_if_wanted();
  lockstep::tracer::cupti::initialize();
  return 1;
}

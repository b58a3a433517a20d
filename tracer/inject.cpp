#include "tracer/inject.h"

#include "tracer/recorder.h"
#include "tracer/sources/nvtx/callbacks.h"
#include "tracer/sources/source.h"

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
  if (!lockstep::tracer::Recorder::instance().prepare() || !lockstep::tracer::is_wanted("nvtx")) return 0;
  return lockstep::tracer::nvtx::install_core_callbacks(get_export_table) ? 1 : 0;
}

int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  if (!lockstep::tracer::Recorder::instance().prepare() || !lockstep::tracer::is_wanted("nvtx")) return 0;
  return lockstep::tracer::nvtx::install_extension_callbacks(module) ? 1 : 0;
}

// The entry points by which NVTX and the CUDA driver hand themselves to a tool. Exported by
// liblockstep-inject.so; a program of ours may also link the tracer statically and point NVTX's
// InitializeInjectionNvtx2_fnptr here.
#pragma once

#include "tracer/inject/sources/nvtx/nvtx_api.h"

extern "C" {
// Called once by each copy of NVTX in the process, at its first call. 0: this copy becomes a no-op.
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_export_table);
// The same for each extension module of each copy.
__attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module);
// Called by the CUDA driver in cuInit, where CUDA_INJECTION64_PATH names our library. 1: done.
__attribute__((visibility("default"))) int InitializeInjection(void);
}

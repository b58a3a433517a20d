// The NVTX functions as this tool implements them, and their entry into the tables of an NVTX copy.
#pragma once

#include <cstdint>

#include "tracer/inject/sources/nvtx/nvtx_api.h"

namespace lockstep::tracer::nvtx {

// Fills the tables of the modules CORE and CORE2. A process may hold several copies of NVTX (the program's,
// libnccl's, …), each with tables of its own: called once for each. False if the copy offers no tables.
bool install_core_callbacks(NvtxGetExportTableFunc_t get_export_table) noexcept;
// Fills the slots of an extension that we know (typed payloads); leaves those of others alone.
bool install_extension_callbacks(nvtxExtModuleInfo_t* module) noexcept;

}  // namespace lockstep::tracer::nvtx

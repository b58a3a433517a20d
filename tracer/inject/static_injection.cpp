// For a program that has the tracer linked in: NVTX asks these pointers where no NVTX_INJECTION64_PATH is
// set.
#include "tracer/inject/inject.h"

extern "C" {
NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr = InitializeInjectionNvtx2;
NvtxExtInitializeInjectionFunc_t InitializeInjectionNvtxExtension_fnptr = InitializeInjectionNvtxExtension;
}

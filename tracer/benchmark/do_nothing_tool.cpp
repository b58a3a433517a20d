// An NVTX tool that does nothing: what calling any tool costs, before it does something.
#include <cstdint>

#include "tracer/inject/sources/nvtx/nvtx_api.h"

namespace {

int push(const char*) {
  return 0;
}
int pop() {
  return 0;
}
int domain_push(nvtxDomainHandle_t, const nvtxEventAttributes_t*) {
  return 0;
}
int domain_pop(nvtxDomainHandle_t) {
  return 0;
}
void mark(const char*) {}
nvtxRangeId_t start(const char*) {
  return 1;
}
void end(nvtxRangeId_t) {}
nvtxDomainHandle_t create(const char*) {
  return reinterpret_cast<nvtxDomainHandle_t>(1);
}
nvtxStringHandle_t register_string(nvtxDomainHandle_t, const char*) {
  return reinterpret_cast<nvtxStringHandle_t>(1);
}
std::uint64_t register_schema(nvtxDomainHandle_t, const nvtxPayloadSchemaAttr_t*) {
  return 1U << 30U;
}

template <class Function>
void set(NvtxFunctionTable table, unsigned size, unsigned id, Function* function) {
  if (id < size) *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_export_table) {
  const auto* exports = static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (exports->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0) return 0;
  set(table, size, NVTX_CBID_CORE_RangePushA, push);
  set(table, size, NVTX_CBID_CORE_RangePop, pop);
  set(table, size, NVTX_CBID_CORE_MarkA, mark);
  set(table, size, NVTX_CBID_CORE_RangeStartA, start);
  set(table, size, NVTX_CBID_CORE_RangeEnd, end);
  if (exports->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  set(table, size, NVTX_CBID_CORE2_DomainRangePushEx, domain_push);
  set(table, size, NVTX_CBID_CORE2_DomainRangePop, domain_pop);
  set(table, size, NVTX_CBID_CORE2_DomainCreateA, create);
  set(table, size, NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  return 1;
}

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(
    nvtxExtModuleInfo_t* module) {
  if (module->moduleId == NVTX_EXT_PAYLOAD_MODULEID) {
    module->segments[0].functionSlots[NVTX3EXT_CBID_nvtxPayloadSchemaRegister] =
        reinterpret_cast<std::intptr_t>(register_schema);
  }
  return 1;
}

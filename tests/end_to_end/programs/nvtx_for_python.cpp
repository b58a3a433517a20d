// NVTX steps for a program in Python, loaded with ctypes.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstdint>

extern "C" __attribute__((visibility("default"))) void step(std::int64_t number) {
  static nvtxDomainHandle_t domain = nvtxDomainCreateA("lockstep");
  static const std::uint64_t schema = [] {
    nvtxPayloadSchemaEntry_t entry{};
    entry.type = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
    entry.name = "step";
    nvtxPayloadSchemaAttr_t attributes{};
    attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                           NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                           NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
    attributes.name = "lockstep.step";
    attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    attributes.entries = &entry;
    attributes.numEntries = 1;
    return nvtxPayloadSchemaRegister(domain, &attributes);
  }();
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "step";
  nvtxPayloadData_t data{schema, sizeof number, &number};
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = 1;
  event.payload.ullValue = reinterpret_cast<std::uintptr_t>(&data);
  nvtxDomainRangePushEx(domain, &event);
  nvtxDomainRangePop(domain);
}

// A small NVTX tool for the trainer's tests: an injection library that writes what it is told as JSON lines.
// It knows NVTX and nothing of Lockstep, so that what the trainer says is checked by somebody who did not
// write it.
//
// Each process writes to $LOCKSTEP_TEST_LISTENER.<RANK>. Lines, in the order in which they happened:
//   {"kind":"push", "thread":…, "message":…, "schema":…, "fields":{…}}    schema and fields where there is a
//   payload
//   {"kind":"pop", "thread":…}
//   {"kind":"mark", "thread":…, "message":…, …}
//   {"kind":"name", "thread":…, "message":…}
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

using Json = nlohmann::json;

struct Entry {
  std::string name;
  std::uint64_t type = 0;
  std::uint64_t offset = 0;
};
struct Schema {
  std::string name;
  std::vector<Entry> entries;
};

std::mutex mutex;
std::map<std::uint64_t, Schema> schemas;
int domain;  // its address is the handle

void write_line(const Json& line) {
  static const int file = [] {
    const char* prefix = std::getenv("LOCKSTEP_TEST_LISTENER");
    const char* rank = std::getenv("RANK");
    const std::string path = std::string(prefix) + "." + (rank == nullptr ? "none" : rank);
    return open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  }();
  const std::string text = line.dump() + "\n";
  if (write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
}

template <class T>
T read(const void* payload, std::uint64_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char*>(payload) + offset, sizeof value);
  return value;
}

Json field(const Entry& entry, const void* payload) {
  switch (entry.type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_INT64:
      return read<std::int64_t>(payload, entry.offset);
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT64:
      return read<std::uint64_t>(payload, entry.offset);
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT32:
      return read<std::uint32_t>(payload, entry.offset);
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING:
      return std::string(read<const char*>(payload, entry.offset));
    default:
      std::abort();
  }
}

void record(const char* kind, const nvtxEventAttributes_t* event) {
  const std::lock_guard lock(mutex);
  Json line{{"kind", kind}, {"thread", gettid()}, {"message", event->message.ascii}};
  if (event->payloadType == NVTX_PAYLOAD_TYPE_EXT) {
    const auto* data = reinterpret_cast<const nvtxPayloadData_t*>(event->payload.ullValue);
    const Schema& schema = schemas.at(data->schemaId);
    line["schema"] = schema.name;
    for (const Entry& entry : schema.entries) line["fields"][entry.name] = field(entry, data->payload);
  } else if (event->payloadType == NVTX_PAYLOAD_TYPE_DOUBLE) {
    line["value"] = event->payload.dValue;
  }
  write_line(line);
}

nvtxDomainHandle_t domain_create(const char* name) {
  return std::strcmp(name, "lockstep") == 0 ? reinterpret_cast<nvtxDomainHandle_t>(&domain) : nullptr;
}
void domain_mark(nvtxDomainHandle_t, const nvtxEventAttributes_t* event) {
  record("mark", event);
}
int domain_range_push(nvtxDomainHandle_t, const nvtxEventAttributes_t* event) {
  return record("push", event), 0;
}
int domain_range_pop(nvtxDomainHandle_t) {
  const std::lock_guard lock(mutex);
  write_line({{"kind", "pop"}, {"thread", gettid()}});
  return 0;
}
void name_thread(std::uint32_t thread, const char* name) {
  const std::lock_guard lock(mutex);
  write_line({{"kind", "name"}, {"thread", thread}, {"message", name}});
}

std::uint64_t register_schema(nvtxDomainHandle_t, const nvtxPayloadSchemaAttr_t* attributes) {
  const std::lock_guard lock(mutex);
  Schema schema{attributes->name, {}};
  for (std::size_t i = 0; i < attributes->numEntries; ++i) {
    const nvtxPayloadSchemaEntry_t& entry = attributes->entries[i];
    schema.entries.push_back({entry.name, entry.type, entry.offset});
  }
  const std::uint64_t id = NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START + schemas.size();
  schemas[id] = std::move(schema);
  return id;
}

template <class Function>
void set(NvtxFunctionTable table, int slot, Function* function) {
  *table[slot] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable core = nullptr;
  NvtxFunctionTable core2 = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &core, &size) == 0) return 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &core2, &size) == 0) return 0;
  set(core, NVTX_CBID_CORE_NameOsThreadA, name_thread);
  set(core2, NVTX_CBID_CORE2_DomainCreateA, domain_create);
  set(core2, NVTX_CBID_CORE2_DomainMarkEx, domain_mark);
  set(core2, NVTX_CBID_CORE2_DomainRangePushEx, domain_range_push);
  set(core2, NVTX_CBID_CORE2_DomainRangePop, domain_range_pop);
  return 1;
}

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(
    nvtxExtModuleInfo_t* module) {
  if (module->moduleId != NVTX_EXT_PAYLOAD_MODULEID) return 0;
  module->segments[0].functionSlots[NVTX3EXT_CBID_nvtxPayloadSchemaRegister] =
      reinterpret_cast<std::intptr_t>(&register_schema);
  return 1;
}

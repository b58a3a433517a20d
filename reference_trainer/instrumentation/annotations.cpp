#include "reference_trainer/instrumentation/annotations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <unistd.h>

#include <array>
#include <cstddef>

namespace lockstep::trainer::annotations {
namespace {

// The payloads, laid out as docs/instrumentation.md lists their fields.
struct StepPayload {
  std::int64_t step;
};
struct ComputePayload {
  std::int64_t layer;
  std::int64_t microbatch;
  std::uint32_t pass;
};
struct GroupPayload {
  std::uint64_t group;
  std::uint64_t size;
  const char* ranks;
};
struct IssuePayload {
  std::uint64_t group;
  std::uint64_t sequence;
};
struct CollectivePayload {
  std::uint64_t group;
  std::uint64_t sequence;
  std::uint64_t bytes;
  std::uint32_t operation;
  std::uint32_t data_type;
  std::int64_t peer;
};

struct Field {
  const char* name;
  std::uint64_t type;
  std::size_t offset;
};

constexpr std::uint64_t kInt64 = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
constexpr std::uint64_t kUint64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
constexpr std::uint64_t kUint32 = NVTX_PAYLOAD_ENTRY_TYPE_UINT32;
constexpr std::uint64_t kString = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING;

constexpr std::array kStepFields{Field{"step", kInt64, offsetof(StepPayload, step)}};
constexpr std::array kComputeFields{Field{"layer", kInt64, offsetof(ComputePayload, layer)},
                                    Field{"microbatch", kInt64, offsetof(ComputePayload, microbatch)},
                                    Field{"pass", kUint32, offsetof(ComputePayload, pass)}};
constexpr std::array kGroupFields{Field{"group", kUint64, offsetof(GroupPayload, group)},
                                  Field{"size", kUint64, offsetof(GroupPayload, size)},
                                  Field{"ranks", kString, offsetof(GroupPayload, ranks)}};
constexpr std::array kIssueFields{Field{"group", kUint64, offsetof(IssuePayload, group)},
                                  Field{"sequence", kUint64, offsetof(IssuePayload, sequence)}};
constexpr std::array kCollectiveFields{Field{"group", kUint64, offsetof(CollectivePayload, group)},
                                       Field{"sequence", kUint64, offsetof(CollectivePayload, sequence)},
                                       Field{"bytes", kUint64, offsetof(CollectivePayload, bytes)},
                                       Field{"operation", kUint32, offsetof(CollectivePayload, operation)},
                                       Field{"data_type", kUint32, offsetof(CollectivePayload, data_type)},
                                       Field{"peer", kInt64, offsetof(CollectivePayload, peer)}};

template <std::size_t N>
std::uint64_t register_schema(nvtxDomainHandle_t domain, const char* name, const std::array<Field, N>& fields,
                              std::size_t size) {
  std::array<nvtxPayloadSchemaEntry_t, N> entries{};
  for (std::size_t i = 0; i < N; ++i) {
    entries[i].type = fields[i].type;
    entries[i].name = fields[i].name;
    entries[i].offset = fields[i].offset;
  }
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.name = name;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries.data();
  schema.numEntries = N;
  schema.payloadStaticSize = size;
  return nvtxPayloadSchemaRegister(domain, &schema);
}

struct Registration {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("lockstep");
  std::uint64_t step = 0;
  std::uint64_t compute = 0;
  std::uint64_t group = 0;
  std::uint64_t issue = 0;
  std::uint64_t collective = 0;

  Registration() {
    if (domain == nullptr) return;
    step = register_schema(domain, "lockstep.step", kStepFields, sizeof(StepPayload));
    compute = register_schema(domain, "lockstep.compute", kComputeFields, sizeof(ComputePayload));
    group = register_schema(domain, "lockstep.group", kGroupFields, sizeof(GroupPayload));
    issue = register_schema(domain, "lockstep.issue", kIssueFields, sizeof(IssuePayload));
    collective = register_schema(domain, "lockstep.collective", kCollectiveFields, sizeof(CollectivePayload));
  }
};

const Registration& registration() {
  static const Registration once;
  return once;
}

nvtxEventAttributes_t event(const char* message) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = message;
  return attributes;
}

// Attaches `payload` to `attributes`; `data` must live as long as they are used.
template <class Payload>
void attach(nvtxEventAttributes_t& attributes, nvtxPayloadData_t& data, std::uint64_t schema,
            const Payload& payload) {
  data = {schema, sizeof(Payload), &payload};
  attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  attributes.reserved0 = 1;  // how many payloads `ullValue` points to
  attributes.payload.ullValue = reinterpret_cast<std::uintptr_t>(&data);
}

template <class Payload>
void push(const char* message, std::uint64_t schema, const Payload& payload) {
  nvtxEventAttributes_t attributes = event(message);
  nvtxPayloadData_t data;
  attach(attributes, data, schema, payload);
  nvtxDomainRangePushEx(registration().domain, &attributes);
}

}  // namespace

bool tool_attached() {
  return registration().domain != nullptr;
}

void name_this_thread(const char* name) {
  if (tool_attached()) nvtxNameOsThreadA(static_cast<std::uint32_t>(gettid()), name);
}

void declare_group(const Group& group) {
  if (!tool_attached()) return;
  const std::string ranks = fmt::format("{}", fmt::join(group.ranks, ","));
  const GroupPayload payload{group.id, group.ranks.size(), ranks.c_str()};
  nvtxEventAttributes_t attributes = event(group.name.c_str());
  nvtxPayloadData_t data;
  attach(attributes, data, registration().group, payload);
  nvtxDomainMarkEx(registration().domain, &attributes);
}

void push_phase(std::string_view name) {
  if (!tool_attached()) return;
  const std::string message(name);
  const nvtxEventAttributes_t attributes = event(message.c_str());
  nvtxDomainRangePushEx(registration().domain, &attributes);
}

void push_step(std::int64_t step) {
  if (tool_attached()) push("step", registration().step, StepPayload{step});
}

void push_compute(std::string_view name, std::int64_t layer, std::int64_t microbatch, Pass pass) {
  if (!tool_attached()) return;
  const std::string message(name);
  push(message.c_str(), registration().compute,
       ComputePayload{layer, microbatch, static_cast<std::uint32_t>(pass)});
}

void push_issue(const Collective& collective) {
  if (!tool_attached()) return;
  push(collective.name.c_str(), registration().issue, IssuePayload{collective.group, collective.sequence});
}

void push_collective(const Collective& collective) {
  if (!tool_attached()) return;
  push(collective.name.c_str(), registration().collective,
       CollectivePayload{collective.group, collective.sequence, collective.bytes,
                         static_cast<std::uint32_t>(collective.operation),
                         static_cast<std::uint32_t>(collective.data_type), collective.peer});
}

void pop() {
  if (tool_attached()) nvtxDomainRangePop(registration().domain);
}

void describe_training(std::string_view description) {
  if (!tool_attached()) return;
  const std::string message = fmt::format("lockstep.training {}", description);
  const nvtxEventAttributes_t attributes = event(message.c_str());
  nvtxDomainMarkEx(registration().domain, &attributes);
}

void count(std::string_view name, double value) {
  if (!tool_attached()) return;
  const std::string message(name);
  nvtxEventAttributes_t attributes = event(message.c_str());
  attributes.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  attributes.payload.dValue = value;
  nvtxDomainMarkEx(registration().domain, &attributes);
}

}  // namespace lockstep::trainer::annotations

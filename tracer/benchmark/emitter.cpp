#include "tracer/benchmark/emitter.h"

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <unistd.h>

#include <array>
#include <chrono>

namespace lockstep::tracer::benchmark_support {

namespace {

struct CollectivePayload {
  std::uint64_t group = 1;
  std::uint64_t sequence = 0;
  std::uint64_t bytes = 1 << 20;
  std::uint32_t operation = 1;
  std::uint32_t data_type = 9;
  std::int64_t peer = -1;
};

class Emitter {
 public:
  Emitter() {
    const std::array<nvtxPayloadSchemaEntry_t, 6> entries{{
        {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "group", nullptr, 0, 0, nullptr, nullptr},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "sequence", nullptr, 0, 0, nullptr, nullptr},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "bytes", nullptr, 0, 0, nullptr, nullptr},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "operation", nullptr, 0, 0, nullptr, nullptr},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "data_type", nullptr, 0, 0, nullptr, nullptr},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "peer", nullptr, 0, 0, nullptr, nullptr},
    }};
    nvtxPayloadSchemaAttr_t schema{};
    schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                       NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
    schema.name = "benchmark.collective";
    schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    schema.entries = entries.data();
    schema.numEntries = entries.size();
    schema_ = nvtxPayloadSchemaRegister(domain_, &schema);
    attributes_.version = NVTX_VERSION;
    attributes_.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes_.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes_.message.registered = nvtxDomainRegisterStringA(domain_, "forward");
  }

  void run(Workload workload, std::uint32_t pairs) {
    switch (workload) {
      case Workload::push_pop:
        for (std::uint32_t i = 0; i < pairs; ++i) {
          nvtxRangePushA("forward layer 3");
          nvtxRangePop();
        }
        break;
      case Workload::push_pop_long:
        for (std::uint32_t i = 0; i < pairs; ++i) {
          nvtxRangePushA("DistributedDataParallel.forward.transformer.h.11.attn.c_proj");
          nvtxRangePop();
        }
        break;
      case Workload::registered:
        for (std::uint32_t i = 0; i < pairs; ++i) {
          nvtxDomainRangePushEx(domain_, &attributes_);
          nvtxDomainRangePop(domain_);
        }
        break;
      case Workload::payload:
        for (std::uint32_t i = 0; i < pairs; ++i) {
          CollectivePayload payload;
          payload.sequence = i;
          nvtxPayloadData_t data{schema_, sizeof payload, &payload};
          nvtxEventAttributes_t attributes = attributes_;
          NVTX_PAYLOAD_EVTATTR_SET_DATA(attributes, &data, schema_, &payload, sizeof payload)
          nvtxDomainRangePushEx(domain_, &attributes);
          nvtxDomainRangePop(domain_);
        }
        break;
      case Workload::mark:
        for (std::uint32_t i = 0; i < pairs; ++i) nvtxMarkA("forward layer 3");
        break;
      case Workload::start_end:
        for (std::uint32_t i = 0; i < pairs; ++i) nvtxRangeEnd(nvtxRangeStartA("forward layer 3"));
        break;
    }
  }

 private:
  nvtxDomainHandle_t domain_ = nvtxDomainCreateA("benchmark");
  std::uint64_t schema_ = 0;
  nvtxEventAttributes_t attributes_{};
};

}  // namespace

int serve(int requests, int answers) {
  Emitter emitter;
  Request request;
  while (read(requests, &request, sizeof request) == sizeof request && request.pairs != 0) {
    const auto begin = std::chrono::steady_clock::now();
    emitter.run(request.workload, request.pairs);
    const auto end = std::chrono::steady_clock::now();
    const std::int64_t nanoseconds =
        std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count();
    if (write(answers, &nanoseconds, sizeof nanoseconds) != sizeof nanoseconds) return 1;
  }
  return 0;
}

}  // namespace lockstep::tracer::benchmark_support

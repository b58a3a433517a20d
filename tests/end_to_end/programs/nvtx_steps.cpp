// A rank of a training job as far as NVTX can tell: steps with ranges, marks and one all-reduce each, in the
// domain `lockstep`. What it does besides is said by its arguments:
//
//   nvtx_steps STEPS [each=MS] [slow=STEP:MS] [wait=STEP:FILE] [hang=STEP:RANK:FILE] [close] [chdir] [fork]
//
// each: how long a step sleeps; slow: this step sleeps that much longer; wait: before this step it says so
// and waits until the file is there; hang: in this step rank RANK never issues its all-reduce and the others
// never end theirs, until the file is there; close: closes all its descriptors before the first step; chdir:
// leaves its working folder; fork: has a child that emits too.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <thread>

namespace {

struct StepPayload {
  std::int64_t step;
};
struct GroupPayload {
  std::uint64_t group;
  std::uint64_t size;
  const char* ranks;
};
struct CollectivePayload {
  std::uint64_t group;
  std::uint64_t sequence;
  std::uint64_t bytes;
  std::uint32_t operation;
  std::uint32_t data_type;
  std::int64_t peer;
};

nvtxDomainHandle_t domain = nullptr;
std::uint64_t step_schema = 0;
std::uint64_t group_schema = 0;
std::uint64_t collective_schema = 0;

template <std::size_t N>
std::uint64_t register_schema(const char* name,
                              const std::array<std::pair<const char*, std::uint64_t>, N>& fields) {
  std::array<nvtxPayloadSchemaEntry_t, N> entries{};
  for (std::size_t i = 0; i < N; ++i) {
    entries[i].name = fields[i].first;
    entries[i].type = fields[i].second;
  }
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  schema.name = name;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries.data();
  schema.numEntries = entries.size();
  return nvtxPayloadSchemaRegister(domain, &schema);
}

template <class Payload, class Call>
void with_payload(const char* name, std::uint64_t schema, const Payload& payload, Call call) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  nvtxPayloadData_t data{schema, sizeof payload, &payload};
  attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  attributes.reserved0 = 1;
  attributes.payload.ullValue = reinterpret_cast<std::uintptr_t>(&data);
  call(&attributes);
}

template <class Payload>
void push(const char* name, std::uint64_t schema, const Payload& payload) {
  with_payload(name, schema, payload,
               [](const auto* attributes) { nvtxDomainRangePushEx(domain, attributes); });
}
void pop() {
  nvtxDomainRangePop(domain);
}

// By this name tests/thread_sanitizer.supp knows who closes what is not its own.
[[gnu::noinline]] void close_descriptors() {
  for (int number = 3; number < 1024; ++number) close(number);
}

void sleep_milliseconds(long milliseconds) {
  timespec time{milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  while (nanosleep(&time, &time) != 0) {
  }
}

// Not for ever: a test that fails must not leave processes behind.
void wait_for(const std::string& file) {
  struct stat status {};
  for (int i = 0; i < 12000 && stat(file.c_str(), &status) != 0; ++i) sleep_milliseconds(10);
}

// "7:rest": the number, and where the rest begins.
struct At {
  std::int64_t step = -1;
  std::string rest;
};
At parse_at(const std::string& text) {
  const std::size_t colon = text.find(':');
  return {std::atoll(text.c_str()), colon == std::string::npos ? "" : text.substr(colon + 1)};
}

int environment_number(const char* name, int otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::atoi(text) : otherwise;
}

void all_reduce(std::int64_t step, bool hangs, const std::string& until) {
  const CollectivePayload payload{7, static_cast<std::uint64_t>(step), 4096, 1, 9, -1};
  push("all_reduce gradients", collective_schema, payload);
  if (hangs) wait_for(until);
  pop();
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t steps = argc > 1 ? std::atoll(argv[1]) : 1;
  std::map<std::string, std::string> options;
  for (int i = 2; i < argc; ++i) {
    const std::string text = argv[i];
    const std::size_t equals = text.find('=');
    options[text.substr(0, equals)] = equals == std::string::npos ? "" : text.substr(equals + 1);
  }
  const long each = std::atol(options["each"].c_str());
  const At slow = parse_at(options.count("slow") != 0 ? options["slow"] : "-1");
  const At wait = parse_at(options.count("wait") != 0 ? options["wait"] : "-1");
  const At hang = parse_at(options.count("hang") != 0 ? options["hang"] : "-1");
  const At missing = parse_at(hang.rest);
  const int rank = environment_number("RANK", 0);
  const int world = environment_number("WORLD_SIZE", 1);

  if (options.count("close") != 0) {
    nvtxMarkA("before closing");
    sleep_milliseconds(500);  // the writer has its file and its socket by now
    close_descriptors();
  }
  if (options.count("chdir") != 0 && chdir("/") != 0) return 2;

  domain = nvtxDomainCreateA("lockstep");
  step_schema = register_schema<1>("lockstep.step", {{{"step", NVTX_PAYLOAD_ENTRY_TYPE_INT64}}});
  group_schema = register_schema<3>("lockstep.group", {{{"group", NVTX_PAYLOAD_ENTRY_TYPE_UINT64},
                                                        {"size", NVTX_PAYLOAD_ENTRY_TYPE_UINT64},
                                                        {"ranks", NVTX_PAYLOAD_ENTRY_TYPE_CSTRING}}});
  collective_schema =
      register_schema<6>("lockstep.collective", {{{"group", NVTX_PAYLOAD_ENTRY_TYPE_UINT64},
                                                  {"sequence", NVTX_PAYLOAD_ENTRY_TYPE_UINT64},
                                                  {"bytes", NVTX_PAYLOAD_ENTRY_TYPE_UINT64},
                                                  {"operation", NVTX_PAYLOAD_ENTRY_TYPE_UINT32},
                                                  {"data_type", NVTX_PAYLOAD_ENTRY_TYPE_UINT32},
                                                  {"peer", NVTX_PAYLOAD_ENTRY_TYPE_INT64}}});
  nvtxNameOsThreadA(static_cast<std::uint32_t>(gettid()), "trainer");
  std::string ranks;
  for (int i = 0; i < world; ++i) ranks += (i == 0 ? "" : ",") + std::to_string(i);
  with_payload("data parallel", group_schema,
               GroupPayload{7, static_cast<std::uint64_t>(world), ranks.c_str()},
               [](const auto* attributes) { nvtxDomainMarkEx(domain, attributes); });

  nvtxRangePushA("epoch");  // around all steps
  nvtxRangeId_t long_range = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    if (step == wait.step) {
      std::printf("waiting\n");
      std::fflush(stdout);
      wait_for(wait.rest);
    }
    push(("step " + std::to_string(step)).c_str(), step_schema, StepPayload{step});
    // Begun in one step and ended three later.
    if (step % 3 == 1) {
      if (long_range != 0) nvtxRangeEnd(long_range);
      long_range = nvtxRangeStartA(("from " + std::to_string(step)).c_str());
    }
    nvtxRangePushA("forward");
    nvtxMarkA(("in " + std::to_string(step)).c_str());
    nvtxRangePop();
    const bool hangs = step == hang.step;
    if (hangs && rank == missing.step) {
      nvtxRangePushA("waiting for a batch that never comes");
      wait_for(missing.rest);
      nvtxRangePop();
    }
    if (options.count("fork") != 0 && step == 1) {
      const pid_t child = fork();
      if (child == 0) {
        nvtxRangePushA("in the child");
        nvtxRangePop();
        sleep_milliseconds(600);
        std::exit(0);
      }
      waitpid(child, nullptr, 0);
    }
    // On a thread of its own, as Gloo's workers are.
    std::thread([&] { all_reduce(step, hangs && rank != missing.step, missing.rest); }).join();
    sleep_milliseconds(each + (step == slow.step ? std::atol(slow.rest.c_str()) : 0));
    pop();
  }
  if (long_range != 0) nvtxRangeEnd(long_range);
  nvtxRangePop();
  std::printf("done\n");
  return 0;
}

// An NVTX storm: many threads that call everything at once while the writer thread drains, in one process
// with the tracer linked in, so that ThreadSanitizer sees both sides. What comes out is counted to the last
// event.
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/temporary_folder.h"
#include "trace/reader.h"
#include "tracer/inject/core/tracer.h"

namespace lockstep {
namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 400;

struct Payload {
  std::int64_t thread;
  const char* text;
};

struct Shared {
  nvtxDomainHandle_t domain = nullptr;
  std::uint64_t schema = 0;
  // Process ranges that one thread starts and the next one ends.
  std::array<std::atomic<nvtxRangeId_t>, kThreads> handed_over{};
};

void storm(Shared& shared, int number) {
  const std::string name = "thread " + std::to_string(number);
  nvtxNameOsThreadA(static_cast<std::uint32_t>(gettid()), name.c_str());
  nvtxDomainHandle_t own = nvtxDomainCreateA(name.c_str());
  for (int round = 0; round < kRounds; ++round) {
    nvtxRangePushA("round");
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered =
        nvtxDomainRegisterStringA(own, ("string " + std::to_string(round % 16)).c_str());
    nvtxDomainRangePushEx(own, &event);
    const std::string text = name + " in round " + std::to_string(round);
    Payload payload{number, text.c_str()};
    nvtxPayloadData_t data{shared.schema, sizeof payload, &payload};
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = "with payload";
    NVTX_PAYLOAD_EVTATTR_SET_DATA(event, &data, shared.schema, &payload, sizeof payload)
    nvtxDomainMarkEx(shared.domain, &event);
    const nvtxRangeId_t mine = nvtxRangeStartA("handed over");
    const nvtxRangeId_t others = shared.handed_over[number].exchange(0);
    if (others != 0) nvtxRangeEnd(others);
    nvtxRangeId_t none = 0;
    if (!shared.handed_over[(number + 1) % kThreads].compare_exchange_strong(none, mine)) nvtxRangeEnd(mine);
    nvtxDomainRangePop(own);
    nvtxNameCategoryA(static_cast<std::uint32_t>(round % 4), name.c_str());
    nvtxRangePop();
    if (round % 50 == 0) {
      // A thread within the thread: rings come and go.
      std::thread([] {
        nvtxRangePushA("child");
        nvtxRangePop();
      }).join();
    }
  }
}

TEST(Storm, EveryEventOfEveryThreadIsThereOnce) {
  const test::TemporaryFolder folder;
  unsetenv("NVTX_INJECTION64_PATH");
  for (const char* variable : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"})
    unsetenv(variable);
  setenv("LOCKSTEP_RUN", folder.path().c_str(), 1);
  setenv("LOCKSTEP_BUFFER_SIZE", std::to_string(std::uint64_t{256} << 20U).c_str(), 1);
  Shared shared;
  // NVTX's own start-up is not made for a race detector: it is over before the threads begin.
  nvtxInitialize(nullptr);
  shared.domain = nvtxDomainCreateA("shared");
  const std::array<nvtxPayloadSchemaEntry_t, 2> entries{{
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "thread", nullptr, 0, 0, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text", nullptr, 0, offsetof(Payload, text), nullptr, nullptr},
  }};
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries.data();
  schema.numEntries = entries.size();
  shared.schema = nvtxPayloadSchemaRegister(shared.domain, &schema);
  ASSERT_NE(shared.schema, 0U);

  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&shared, i] { storm(shared, i); });
  for (std::thread& thread : threads) thread.join();
  std::uint64_t still_open = 0;
  for (const auto& id : shared.handed_over) still_open += id.load() != 0 ? 1 : 0;
  tracer::Tracer::instance().shut_down();

  std::vector<std::filesystem::path> files;
  // Beside the control socket's folder, where the recording lasted long enough to have one.
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (entry.path().extension() == ".lst") files.push_back(entry.path());
  ASSERT_EQ(files.size(), 1U);
  const Result<trace::Reader> opened = trace::Reader::open(files.front());
  ASSERT_TRUE(opened.ok());
  const trace::Reader& reader = opened.value();
  EXPECT_TRUE(reader.complete());
  std::map<std::string, std::uint64_t> ranges;
  ASSERT_TRUE(reader
                  .read<trace::HostRange>({},
                                          [&](const trace::HostRange& range) {
                                            ++ranges[std::string(reader.string(range.name))];
                                            EXPECT_LE(range.begin, range.end);
                                          })
                  .ok());
  EXPECT_EQ(ranges["round"], kThreads * kRounds);
  EXPECT_EQ(ranges["child"], kThreads * kRounds / 50);
  EXPECT_EQ(ranges["handed over"], kThreads * kRounds - still_open);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(ranges["string " + std::to_string(i)], kThreads * kRounds / 16);
  EXPECT_EQ(reader.unfinished_ranges().value().size(), still_open);
  std::uint64_t marks = 0;
  ASSERT_TRUE(reader
                  .read_with_arguments<trace::Mark>(
                      {},
                      [&](const trace::Mark&, std::span<const trace::Argument> arguments) {
                        ASSERT_EQ(arguments.size(), 2U);
                        const std::string text(
                            reader.string(static_cast<trace::StringId>(arguments[1].bits)));
                        EXPECT_EQ(text.substr(0, 9), "thread " + std::to_string(arguments[0].bits) + " ");
                        ++marks;
                      })
                  .ok());
  EXPECT_EQ(marks, kThreads * kRounds);
  EXPECT_EQ(reader.count(trace::EventKind::drop), 0U);
}

}  // namespace
}  // namespace lockstep

// Uses every feature of NVTX 3 once, with values that a test knows. See record_features_test.cpp for what
// must come out.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSync.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>

namespace {

nvtxEventAttributes_t attributes() {
  nvtxEventAttributes_t result{};
  result.version = NVTX_VERSION;
  result.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  return result;
}

nvtxEventAttributes_t with_message(const char* text) {
  nvtxEventAttributes_t result = attributes();
  result.messageType = NVTX_MESSAGE_TYPE_ASCII;
  result.message.ascii = text;
  return result;
}

void core() {
  nvtxRangePushA("ascii");
  nvtxRangePushW(L"wide \u00e4\u20ac\U0001F600");
  nvtxEventAttributes_t event = with_message("coloured");
  event.colorType = NVTX_COLOR_ARGB;
  event.color = 0xFF336699;
  event.category = 7;
  nvtxNameCategoryA(7, "seventh");
  nvtxRangePushEx(&event);
  nvtxRangePop();
  nvtxRangePop();
  nvtxRangePop();
  nvtxMarkA("mark ascii");
  nvtxMarkW(L"mark wide \u20ac");
  event = with_message("mark with category");
  event.category = 8;
  nvtxNameCategoryW(8, L"eighth");
  nvtxMarkEx(&event);
  event = with_message("mark with unnamed category");
  event.category = 99;
  nvtxMarkEx(&event);
  event = attributes();
  event.messageType = NVTX_MESSAGE_TYPE_UNICODE;
  event.message.unicode = L"unicode \u00fc";
  nvtxMarkEx(&event);
  nvtxMarkEx(nullptr);
  nvtxRangePop();  // one too many: must do nothing

  const std::string long_name(40000, 'x');
  nvtxMarkA(long_name.c_str());
  std::string temporary = "temporary one";
  nvtxRangePushA(temporary.c_str());
  temporary = "changed after";
  nvtxRangePop();
}

void numbers() {
  nvtxEventAttributes_t event = with_message("unsigned 64");
  event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  event.payload.ullValue = 0xFFFFFFFFFFFFFFFFULL;
  nvtxMarkEx(&event);
  event = with_message("signed 64");
  event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  event.payload.llValue = -5;
  nvtxMarkEx(&event);
  event = with_message("double");
  event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  event.payload.dValue = 0.1;
  nvtxMarkEx(&event);
  event = with_message("unsigned 32");
  event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
  event.payload.ullValue = 0xDEADBEEF00000000ULL;
  event.payload.uiValue = 4000000000U;
  nvtxMarkEx(&event);
  event = with_message("signed 32");
  event.payloadType = NVTX_PAYLOAD_TYPE_INT32;
  event.payload.iValue = -6;
  nvtxMarkEx(&event);
  event = with_message("float");
  event.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
  event.payload.fValue = 0.5F;
  nvtxRangePushEx(&event);
  nvtxRangePop();
}

void process_ranges() {
  const nvtxRangeId_t first = nvtxRangeStartA("started here");
  const nvtxRangeId_t second = nvtxRangeStartW(L"overlapping");
  nvtxEventAttributes_t event = with_message("started with attributes");
  event.colorType = NVTX_COLOR_ARGB;
  event.color = 0xFF00FF00;
  const nvtxRangeId_t third = nvtxRangeStartEx(&event);
  nvtxRangeEnd(first);
  std::thread([&] {
    nvtxNameOsThreadW(static_cast<std::uint32_t>(gettid()), L"ender \u00e9");
    nvtxRangeEnd(second);
  }).join();
  nvtxRangeEnd(third);
  nvtxRangeEnd(123456789);  // never started
  nvtxRangeStartA("never ended");
}

void domains() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("library.one");
  nvtxDomainHandle_t other = nvtxDomainCreateW(L"library.two \u20ac");
  nvtxStringHandle_t string = nvtxDomainRegisterStringA(domain, "registered");
  nvtxStringHandle_t wide = nvtxDomainRegisterStringW(domain, L"registered wide \u00df");
  nvtxDomainNameCategoryA(domain, 7, "seventh of one");
  nvtxDomainNameCategoryW(domain, 9, L"ninth of one");
  nvtxEventAttributes_t event = attributes();
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = string;
  event.category = 7;
  nvtxDomainRangePushEx(domain, &event);
  event.message.registered = wide;
  event.category = 9;
  nvtxDomainMarkEx(domain, &event);
  const nvtxRangeId_t id = nvtxDomainRangeStartEx(domain, &event);
  nvtxDomainRangeEnd(domain, id);
  // Domains have stacks of their own: these two overlap.
  nvtxEventAttributes_t crossing = with_message("crossing");
  nvtxDomainRangePushEx(other, &crossing);
  nvtxDomainRangePop(domain);
  nvtxDomainRangePop(other);
  event.message.registered = reinterpret_cast<nvtxStringHandle_t>(0x7777);  // no handle of anyone
  event.category = 0;
  nvtxDomainMarkEx(domain, &event);
  nvtxDomainDestroy(other);
}

// What isn't recorded must do no harm.
void resources() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("library.one");
  int object = 0;
  nvtxResourceAttributes_t resource{};
  resource.version = NVTX_VERSION;
  resource.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
  resource.identifierType = NVTX_RESOURCE_TYPE_GENERIC_POINTER;
  resource.identifier.pValue = &object;
  resource.messageType = NVTX_MESSAGE_TYPE_ASCII;
  resource.message.ascii = "resource";
  nvtxDomainResourceDestroy(nvtxDomainResourceCreate(domain, &resource));
  nvtxSyncUserAttributes_t sync{};
  sync.version = NVTX_VERSION;
  sync.size = NVTX_SYNCUSER_ATTRIB_STRUCT_SIZE;
  sync.messageType = NVTX_MESSAGE_TYPE_ASCII;
  sync.message.ascii = "lock";
  nvtxSyncUser_t lock = nvtxDomainSyncUserCreate(domain, &sync);
  nvtxDomainSyncUserAcquireStart(lock);
  nvtxDomainSyncUserAcquireSuccess(lock);
  nvtxDomainSyncUserReleasing(lock);
  nvtxDomainSyncUserDestroy(lock);
}

struct Inner {
  std::int16_t small;
  double precise;
};
struct Outer {
  std::uint8_t byte;
  std::int32_t number;
  const char* text;
  std::array<std::uint32_t, 3> fixed;
  Inner inner;
  std::array<char, 8> letters;
  std::int32_t color;  // of the enum
  float ratio;
  void* address;
  std::uint64_t length;
  const std::uint16_t* pointed;
};

nvtxPayloadSchemaEntry_t entry(std::uint64_t type, const char* name, std::size_t offset,
                               std::uint64_t flags = 0, std::uint64_t detail = 0) {
  nvtxPayloadSchemaEntry_t result{};
  result.flags = flags;
  result.type = type;
  result.name = name;
  result.offset = offset;
  result.arrayOrUnionDetail = detail;
  return result;
}

template <std::size_t N>
std::uint64_t register_schema(nvtxDomainHandle_t domain, const char* name, std::uint64_t type,
                              const std::array<nvtxPayloadSchemaEntry_t, N>& entries, std::size_t size,
                              std::uint64_t static_id = 0) {
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  schema.name = name;
  schema.type = type;
  schema.entries = entries.data();
  schema.numEntries = N;
  if (size != 0) {
    schema.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
    schema.payloadStaticSize = size;
  }
  if (static_id != 0) {
    schema.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
    schema.schemaId = static_id;
  }
  return nvtxPayloadSchemaRegister(domain, &schema);
}

void payloads() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("payloads");
  const std::array<nvtxPayloadEnum_t, 3> colors{{{"red", 0, 0}, {"green", 1, 0}, {"blue", 2, 0}}};
  nvtxPayloadEnumAttr_t enumeration{};
  enumeration.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME | NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                          NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
  enumeration.name = "color";
  enumeration.entries = colors.data();
  enumeration.numEntries = colors.size();
  enumeration.sizeOfEnum = sizeof(std::int32_t);
  const std::uint64_t color = nvtxPayloadEnumRegister(domain, &enumeration);

  const std::uint64_t inner = register_schema(domain, "inner", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
                                              std::array{entry(NVTX_PAYLOAD_ENTRY_TYPE_INT16, "small", 0),
                                                         entry(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "precise", 0)},
                                              sizeof(Inner));
  const std::uint64_t outer =
      register_schema(domain, "outer", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
                      std::array{
                          entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "byte", 0),
                          entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "number", offsetof(Outer, number)),
                          entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text", offsetof(Outer, text),
                                NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY),
                          entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "fixed", offsetof(Outer, fixed),
                                NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 3),
                          entry(inner, "inner", offsetof(Outer, inner)),
                          entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "letters", offsetof(Outer, letters), 0, 8),
                          entry(color, "color", offsetof(Outer, color)),
                          entry(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "ratio", offsetof(Outer, ratio)),
                          entry(NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS, "address", offsetof(Outer, address)),
                          entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "length", offsetof(Outer, length)),
                          entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT16, "pointed", offsetof(Outer, pointed),
                                NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY |
                                    NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX,
                                9),
                      },
                      sizeof(Outer));
  std::string text = "deep";
  std::array<std::uint16_t, 2> pointed{11, 12};
  Outer payload{200,
                -3,
                text.c_str(),
                {1, 2, 3},
                {-7, 2.5},
                {'a', 'b', 'c'},
                2,
                0.25F,
                reinterpret_cast<void*>(0x1234),
                pointed.size(),
                pointed.data()};
  nvtxPayloadData_t data{outer, sizeof payload, &payload};
  nvtxEventAttributes_t event = with_message("everything");
  NVTX_PAYLOAD_EVTATTR_SET_DATA(event, &data, outer, &payload, sizeof payload)
  nvtxDomainRangePushEx(domain, &event);
  // The call is over: nothing of this may still be looked at.
  text = "gone";
  pointed = {0, 0};
  std::memset(static_cast<void*>(&payload), 0xFF, sizeof payload);
  nvtxDomainRangePop(domain);

  // A layout that only the data tells: a length, as many numbers, a terminated string.
  const std::uint64_t dynamic = register_schema(
      domain, "dynamic", NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC,
      std::array{
          entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "count", 0),
          entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT16, "values", 0, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, 0),
          entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "tail", 0, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED)},
      0);
  const std::array<unsigned char, 14> blob{3, 0, 0, 0, 10, 0, 20, 0, 30, 0, 'e', 'n', 'd', 0};
  nvtxPayloadData_t dynamic_data{dynamic, blob.size(), blob.data()};
  nvtxMarkPayload(domain, &dynamic_data, 1);

  // The message as an entry of the payload, more payload at the end, and the same across threads.
  struct Named {
    const char* message;
    std::int64_t value;
  };
  const std::uint64_t named = register_schema(
      domain, "named", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
      std::array{entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "message", 0, NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE),
                 entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "value", offsetof(Named, value))},
      sizeof(Named));
  const std::uint64_t result =
      register_schema(domain, "result", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
                      std::array{entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "result", 0)}, sizeof(std::int64_t));
  Named push{"pushed by payload", 1};
  std::int64_t outcome = 42;
  nvtxPayloadData_t push_data{named, sizeof push, &push};
  nvtxPayloadData_t pop_data{result, sizeof outcome, &outcome};
  nvtxRangePushPayload(domain, &push_data, 1);
  nvtxRangePopPayload(domain, &pop_data, 1);
  push.message = "started by payload";
  const nvtxRangeId_t id = nvtxRangeStartPayload(domain, &push_data, 1);
  nvtxRangeEndPayload(domain, id, &pop_data, 1);

  // Two payloads at once; a payload of a plain type; one of a size that the tool must find; one that is too
  // short.
  std::array<nvtxPayloadData_t, 2> two{push_data, pop_data};
  event = with_message("two payloads");
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = 2;
  event.payload.ullValue = NVTX_POINTER_AS_PAYLOAD_ULLVALUE(two.data());
  nvtxDomainMarkEx(domain, &event);
  const double plain = 1.5;
  nvtxPayloadData_t plain_data{NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, SIZE_MAX, &plain};
  nvtxMarkPayload(domain, &plain_data, 1);
  nvtxPayloadData_t text_data{NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, SIZE_MAX, "plain text"};
  nvtxMarkPayload(domain, &text_data, 1);
  nvtxPayloadData_t short_data{result, 4, &outcome};
  event = with_message("short payload");
  NVTX_PAYLOAD_EVTATTR_SET_DATA(event, &short_data, result, &outcome, 4)
  nvtxDomainMarkEx(domain, &event);
  const std::string large(300000, 'y');
  nvtxPayloadData_t large_data{NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, SIZE_MAX, large.c_str()};
  nvtxMarkPayload(domain, &large_data, 1);

  // A domain as libnccl's: static schema ids, registered strings.
  nvtxDomainHandle_t nccl = nvtxDomainCreateA("NCCL");
  struct AllReduce {
    std::uint64_t communicator;
    std::size_t bytes;
    std::int32_t operation;
  };
  constexpr std::uint64_t kAllReduce = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 5;
  register_schema(nccl, "AllReduce", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
                  std::array{entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", 0),
                             entry(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", 8),
                             entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Reduction operation", 16)},
                  sizeof(AllReduce), kAllReduce);
  AllReduce all_reduce{0xABCDEF0123456789ULL, 4096, 0};
  nvtxPayloadData_t nccl_data{kAllReduce, sizeof all_reduce, &all_reduce};
  event = attributes();
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(nccl, "ncclAllReduce");
  NVTX_PAYLOAD_EVTATTR_SET_DATA(event, &nccl_data, kAllReduce, &all_reduce, sizeof all_reduce)
  nvtxDomainRangePushEx(nccl, &event);
  nvtxDomainRangePop(nccl);
}

}  // namespace

int main() {
  nvtxInitialize(nullptr);
  nvtxNameOsThreadA(static_cast<std::uint32_t>(gettid()), "the main thread");
  core();
  numbers();
  process_ranges();
  domains();
  resources();
  payloads();
  return 0;
}

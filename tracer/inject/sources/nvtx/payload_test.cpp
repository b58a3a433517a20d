// Typed payloads from registration to decoded values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "tracer/inject/sources/nvtx/nvtx_api.h"
#include "tracer/inject/sources/nvtx/payload_copy.h"
#include "tracer/inject/sources/nvtx/payload_decode.h"
#include "tracer/inject/sources/nvtx/text.h"

namespace lockstep::tracer::nvtx {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

nvtxPayloadSchemaEntry_t entry(std::uint64_t type, const char* name, std::uint64_t flags = 0,
                               std::uint64_t detail = 0, std::uint64_t offset = 0) {
  nvtxPayloadSchemaEntry_t result{};
  result.type = type;
  result.name = name;
  result.flags = flags;
  result.arrayOrUnionDetail = detail;
  result.offset = offset;
  return result;
}

class PayloadTest : public testing::Test {
 protected:
  std::uint64_t register_schema(const std::vector<nvtxPayloadSchemaEntry_t>& entries,
                                std::uint64_t type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, std::uint64_t id = 0,
                                std::uint16_t domain = 0, std::uint64_t pack = 0) {
    nvtxPayloadSchemaAttr_t attributes{};
    attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                           NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                           NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT;
    attributes.type = type;
    attributes.entries = entries.data();
    attributes.numEntries = entries.size();
    attributes.packAlign = pack;
    if (id != 0) {
      attributes.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
      attributes.schemaId = id;
    }
    return schemas_->register_schema(domain, attributes);
  }

  // Through the ring's format and back: "key=value" for each value, "(short)" at the end of one that was cut.
  std::vector<std::string> pass(std::uint64_t schema, const void* data, std::size_t size,
                                std::uint16_t domain = 0) {
    const nvtxPayloadData_t payload{schema, size, data};
    const PayloadCopy copy(*schemas_, domain, &payload, 1, 4096);
    std::vector<std::byte> section(copy.bytes());
    copy.write(section.data());
    std::vector<PayloadView> views;
    if (!read_payloads(section, views)) return {"(too large)"};
    return decode(views.at(0), domain);
  }
  template <class T>
  std::vector<std::string> pass(std::uint64_t schema, const T& payload) {
    return pass(schema, &payload, sizeof payload);
  }

  std::vector<std::string> decode(const PayloadView& view, std::uint16_t domain = 0) {
    std::vector<std::string> values;
    const bool whole = decode_payload(*schemas_, domain, view, [&](const PayloadValue& value) {
      std::string text(value.key);
      text += '=';
      switch (value.kind) {
        case trace::ArgumentType::int64:
          text += std::to_string(static_cast<std::int64_t>(value.bits));
          break;
        case trace::ArgumentType::uint64:
          text += std::to_string(value.bits) + "u";
          break;
        case trace::ArgumentType::float64:
          text += std::to_string(std::bit_cast<double>(value.bits));
          break;
        case trace::ArgumentType::string:
          text += "'" + std::string(value.text) + "'";
          break;
        case trace::ArgumentType::address:
          text += "@" + std::to_string(value.bits);
          break;
      }
      values.push_back(text);
    });
    if (!whole) values.emplace_back("(short)");
    return values;
  }

  std::unique_ptr<SchemaTable> schemas_ = std::make_unique<SchemaTable>();
};

struct Mixed {
  std::int8_t a;
  std::int64_t b;
  std::uint16_t c;
  float d;
  char e;
  double f;
};

TEST_F(PayloadTest, OffsetsFollowTheCompilersAlignment) {
  const std::uint64_t id =
      register_schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_INT8, "a"), entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "b"),
                       entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT16, "c"), entry(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "d"),
                       entry(NVTX_PAYLOAD_ENTRY_TYPE_CHAR, "e"), entry(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "f")});
  EXPECT_EQ(schemas_->find(0, id)->static_size, sizeof(Mixed));
  EXPECT_THAT(pass(id, Mixed{-1, -2, 3, 0.5F, 'A', 0.25}),
              ElementsAre("a=-1", "b=-2", "c=3u", "d=0.500000", "e=65", "f=0.250000"));
}

TEST_F(PayloadTest, PackedStructures) {
  const std::uint64_t id =
      register_schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "a"), entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "b")},
                      NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, 0, 0, 1);
  const std::array<unsigned char, 5> bytes{7, 1, 1, 0, 0};
  EXPECT_THAT(pass(id, bytes), ElementsAre("a=7u", "b=257u"));
}

TEST_F(PayloadTest, AnyCutIsNoticed) {
  const std::uint64_t id = register_schema(
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "a"), entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "b")});
  const std::array<std::uint32_t, 2> values{1, 2};
  EXPECT_THAT(pass(id, values.data(), 8), ElementsAre("a=1u", "b=2u"));
  EXPECT_THAT(pass(id, values.data(), 7), ElementsAre("a=1u", "(short)"));
  EXPECT_THAT(pass(id, values.data(), 3), ElementsAre("(short)"));
  EXPECT_THAT(pass(id, values.data(), 0), ElementsAre("(short)"));
  EXPECT_THAT(pass(id, nullptr, 8), ElementsAre("(short)"));
}

TEST_F(PayloadTest, SixteenBitFloats) {
  const std::uint64_t id = register_schema(
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16, "h", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 4),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_BF16, "b")});
  // 1.5, -2, the smallest subnormal, infinity; 3.140625
  const std::array<std::uint16_t, 5> bits{0x3E00, 0xC000, 0x0001, 0x7C00, 0x4049};
  EXPECT_THAT(pass(id, bits), ElementsAre("h=1.500000", "h=-2.000000", "h=0.000000", "h=inf", "b=3.140625"));
}

TEST_F(PayloadTest, StaticIdsBelongToTheirDomain) {
  const std::uint64_t id = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 5;
  EXPECT_EQ(register_schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "one")}, 1, id, 1), id);
  EXPECT_EQ(register_schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "two")}, 1, id, 2), id);
  const std::uint32_t value = 9;
  EXPECT_THAT(pass(id, &value, 4, 1), ElementsAre("one=9u"));
  EXPECT_THAT(pass(id, &value, 4, 2), ElementsAre("two=9u"));
  EXPECT_THAT(pass(id, &value, 4, 3), IsEmpty());
  // Registered again, the newer one counts.
  EXPECT_EQ(register_schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "three")}, 1, id, 1), id);
  EXPECT_THAT(pass(id, &value, 4, 1), ElementsAre("three=9u"));
}

TEST_F(PayloadTest, EnumsBecomeNamesAndFlagsAreJoined) {
  const std::array<nvtxPayloadEnum_t, 4> values{
      {{"zero", 0, 0}, {"read", 1, 1}, {"write", 2, 1}, {"all", 7, 0}}};
  nvtxPayloadEnumAttr_t attributes{};
  attributes.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME | NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                         NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
  attributes.name = "mode";
  attributes.entries = values.data();
  attributes.numEntries = values.size();
  attributes.sizeOfEnum = 1;
  const std::uint64_t mode = schemas_->register_enum(0, attributes);
  const std::uint64_t id = register_schema({entry(mode, "m", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 5)});
  const std::array<std::uint8_t, 5> bytes{0, 1, 3, 7, 9};
  EXPECT_THAT(pass(id, bytes), ElementsAre("m='zero'", "m='read'", "m='read|write'", "m='all'", "m=9u"));
  EXPECT_THAT(pass(mode, bytes.data() + 1, 1), ElementsAre("mode='read'"));
}

TEST_F(PayloadTest, UnionsByTheirSelector) {
  const std::uint64_t number = register_schema(
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "whole"), entry(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "real")},
      NVTX_PAYLOAD_SCHEMA_TYPE_UNION);
  const std::uint64_t id =
      register_schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "which"), entry(number, "number", 0, 0)});
  struct {
    std::uint32_t which;
    float real;
  } payload{1, 2.5F};
  EXPECT_THAT(pass(id, payload), ElementsAre("which=1u", "number.real=2.500000"));
  payload.which = 9;
  EXPECT_THAT(pass(id, payload), ElementsAre("which=9u"));
}

struct Pointers {
  const char* text;
  const char16_t* wide;
  const std::int32_t* terminated;
};

TEST_F(PayloadTest, PointersAreFollowedDuringTheCallOnly) {
  constexpr std::uint64_t kPointer = NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY;
  const std::uint64_t inner = register_schema(
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text"), entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16, "wide"),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "list",
             kPointer | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED)});
  const std::uint64_t id = register_schema({entry(inner, "in", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 2)});
  const std::array<std::int32_t, 3> list{5, -6, 0};
  const std::array<Pointers, 2> payload{Pointers{"first", u"\u20ac", list.data()},
                                        Pointers{nullptr, u"", list.data() + 2}};
  EXPECT_THAT(pass(id, payload), ElementsAre("in.text='first'", "in.wide='€'", "in.list=5", "in.list=-6",
                                             "in.text=''", "in.wide=''"));
}

TEST_F(PayloadTest, WhatIsTooLargeIsLeftOutAsAWhole) {
  const std::string text(5000, 'x');
  EXPECT_THAT(pass(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, text.data(), std::numeric_limits<std::size_t>::max()),
              ElementsAre("(too large)"));
  const std::vector<nvtxPayloadData_t> many(33, nvtxPayloadData_t{NVTX_PAYLOAD_ENTRY_TYPE_INT8, 1, "a"});
  const PayloadCopy copy(*schemas_, 0, many.data(), many.size(), 4096);
  EXPECT_EQ(copy.bytes(), 8U);
}

TEST_F(PayloadTest, SchemasThatMakeNoSenseAreRefusedOrHarmless) {
  nvtxPayloadSchemaAttr_t nothing{};
  EXPECT_EQ(schemas_->register_schema(0, nothing), 0U);
  // A huge array, an unknown type, a length entry behind its array, an offset in the far distance.
  const std::array<std::byte, 64> bytes{};
  for (const nvtxPayloadSchemaEntry_t& strange :
       {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "a", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 1ULL << 60),
        entry(12345, "a"),
        entry(NVTX_PAYLOAD_ENTRY_TYPE_INT8, "a", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, 5),
        entry(NVTX_PAYLOAD_ENTRY_TYPE_INT8, "a", 0, 0, 1ULL << 62)}) {
    pass(register_schema({strange}), bytes);
  }
}

// Any schema and any bytes: the decoder must stay within them. (ASan and UBSan watch.)
TEST_F(PayloadTest, RandomSchemasAndBytesAreHarmless) {
  std::mt19937_64 random(20260517);
  std::vector<std::uint64_t> ids;
  for (int round = 0; round < 3000; ++round) {
    std::vector<nvtxPayloadSchemaEntry_t> entries(random() % 6);
    for (nvtxPayloadSchemaEntry_t& e : entries) {
      e = entry(random() % 110, "e", random() % 4 == 0 ? (random() % 5) << 4 : 0, random() % 9,
                random() % 3 == 0 ? random() % 70 : 0);
      if (!ids.empty() && random() % 3 == 0) e.type = ids[random() % ids.size()];
    }
    // Pointers stay out: random addresses must not be followed. Strings without a length are pointers.
    for (nvtxPayloadSchemaEntry_t& e : entries) {
      if (is_string_type(e.type) && e.arrayOrUnionDetail == 0) e.arrayOrUnionDetail = 1;
    }
    const std::uint64_t id = register_schema(entries, 1 + random() % 4, 0, 0, random() % 3);
    if (id == 0) continue;
    ids.push_back(id);
    std::vector<std::byte> bytes(random() % 80);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random() % 3 == 0 ? 0 : random());
    PayloadView view;
    view.schema = id;
    view.bytes = bytes;
    EXPECT_LT(decode(view).size(), 100000U);
  }
}

TEST(Text, WideCharactersBecomeUtf8) {
  std::string text;
  const std::u16string utf16 = u"a\u00e4\u20ac\U0001F600";
  append_utf8_from_utf16(reinterpret_cast<const std::byte*>(utf16.data()), utf16.size() * 2, text);
  EXPECT_EQ(text, "aä€😀");
  text.clear();
  const std::u32string utf32 = U"a\u00e4\u20ac\U0001F600";
  append_utf8_from_utf32(reinterpret_cast<const std::byte*>(utf32.data()), utf32.size() * 4, text);
  EXPECT_EQ(text, "aä€😀");
}

TEST(Text, InvalidUnitsAreReplaced) {
  std::string text;
  const std::array<std::uint16_t, 4> broken{0xD800, 'x', 0xDC00, 0xD83D};
  append_utf8_from_utf16(reinterpret_cast<const std::byte*>(broken.data()), sizeof broken, text);
  EXPECT_EQ(text, "\uFFFDx\uFFFD\uFFFD");
  text.clear();
  const std::array<std::uint32_t, 2> beyond{0x110000, 0xD800};
  append_utf8_from_utf32(reinterpret_cast<const std::byte*>(beyond.data()), sizeof beyond, text);
  EXPECT_EQ(text, "\uFFFD\uFFFD");
}

}  // namespace
}  // namespace lockstep::tracer::nvtx

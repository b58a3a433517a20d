// What a program said about the layout of its typed payloads (nvtxPayloadSchemaRegister,
// nvtxPayloadEnumRegister), copied at registration and immutable from then on: application threads read it on
// the hot path to know which pointers to follow, the writer thread to decode.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct nvtxPayloadSchemaAttr_v1;
struct nvtxPayloadEnumAttr_v1;

namespace lockstep::tracer::nvtx {

// Schema ids below this are NVTX's own types; from here to kFirstDynamicSchema the program chooses them, per
// domain.
inline constexpr std::uint64_t kFirstStaticSchema = std::uint64_t{1} << 24U;
inline constexpr std::uint64_t kFirstDynamicSchema = std::uint64_t{1} << 32U;

struct EnumValue {
  std::string name;
  std::uint64_t value = 0;
  bool is_flag = false;
};

struct SchemaEntry {
  std::uint64_t flags = 0;
  std::uint64_t type = 0;
  std::string name;
  std::uint64_t detail = 0;  // array length, string length, or the index of the entry that holds it
  std::uint64_t offset =
      0;  // in the payload; where !Schema::fixed_layout, as registered: 0 is "after the entry before"
};

// A pointer in a payload whose target must be copied during the call, since it is valid no longer.
struct PointerField {
  enum class Target : std::uint8_t { text8, text16, text32, elements, terminated_elements, counted_elements };
  Target target = Target::text8;
  std::uint32_t offset = 0;  // of the pointer, in the payload
  std::uint32_t element_size = 1;
  std::uint64_t count = 0;  // elements
  std::uint32_t count_offset =
      0;  // counted_elements: where the number of elements stands, and its size in bytes
  std::uint32_t count_size = 0;
};

struct Schema {
  std::uint64_t id = 0;
  std::uint16_t domain = 0;
  std::string name;
  // For the gate (admission.h): it announces a step or declares a process group, in the domain `lockstep`.
  enum class Role : std::uint8_t { none, step, group };
  Role role = Role::none;
  bool is_enum = false;
  std::uint64_t kind = 0;  // NVTX_PAYLOAD_SCHEMA_TYPE_*
  std::uint64_t pack = 0;  // alignment of packed structures; 0: natural
  std::vector<SchemaEntry> entries;
  std::vector<EnumValue> values;
  bool fixed_layout = false;  // every entry's offset is known
  // Of static schemas and enums: bytes of one payload and its alignment. 0 where only the data can tell.
  std::uint32_t static_size = 0;
  std::uint32_t alignment = 1;
  std::vector<PointerField> pointers;  // static schemas, nested ones included
};

// The schemas of a process. find() takes no lock; register_*() are called under the registry's lock. Bounded:
// beyond kCapacity schemas id 0 is returned, and payloads of that schema are not decoded.
class SchemaTable {
 public:
  static constexpr std::size_t kCapacity = 4096;

  std::uint64_t register_schema(std::uint16_t domain, const nvtxPayloadSchemaAttr_v1& attributes,
                                bool is_instrumentation = false);
  std::uint64_t register_enum(std::uint16_t domain, const nvtxPayloadEnumAttr_v1& attributes);
  const Schema* find(std::uint16_t domain, std::uint64_t id) const noexcept;

 private:
  std::uint64_t insert(std::unique_ptr<Schema> schema);
  void lay_out(Schema& schema) const;

  struct Static {
    std::atomic<std::uint64_t> key{0};  // (domain + 1) · 2^32 + id
    std::atomic<const Schema*> schema{nullptr};
  };
  std::array<std::atomic<const Schema*>, kCapacity> dynamic_{};
  std::array<Static, 2 * kCapacity> static_{};  // open addressing
  std::size_t dynamic_count_ = 0;
  std::size_t static_count_ = 0;
  std::vector<std::unique_ptr<Schema>> owned_;
};

// Size and alignment of an NVTX type (NVTX_PAYLOAD_ENTRY_TYPE_*), 0 for unknown ones. Strings: size of a
// character.
struct TypeLayout {
  std::uint32_t size = 0;
  std::uint32_t alignment = 1;
};
TypeLayout layout_of_type(std::uint64_t type) noexcept;
bool is_string_type(std::uint64_t type) noexcept;
// The array flags of an entry: 0 or one of NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_*.
std::uint64_t array_kind(std::uint64_t flags) noexcept;
// A `const char*` (or wider): a string type that is neither embedded nor an array.
bool is_string_pointer(const SchemaEntry& entry) noexcept;

}  // namespace lockstep::tracer::nvtx

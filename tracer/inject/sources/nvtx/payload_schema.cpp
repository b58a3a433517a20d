#include "tracer/inject/sources/nvtx/payload_schema.h"

#include <algorithm>
#include <utility>

#include "tracer/inject/sources/nvtx/nvtx_api.h"

namespace lockstep::tracer::nvtx {

namespace {

// A schema larger than this is a mistake, not a payload.
constexpr std::uint64_t kLargestStaticPayload = std::uint64_t{1} << 20U;
constexpr std::size_t kMaxEntries = 4096;

std::uint64_t static_key(std::uint16_t domain, std::uint64_t id) {
  return ((std::uint64_t{domain} + 1) << 32U) | id;
}

std::uint64_t align_up(std::uint64_t offset, std::uint64_t alignment) {
  return alignment <= 1 ? offset : (offset + alignment - 1) / alignment * alignment;
}

std::string text_or_empty(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

PointerField::Target text_target(std::uint64_t type) {
  if (type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16) return PointerField::Target::text16;
  if (type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32) return PointerField::Target::text32;
  return PointerField::Target::text8;
}

}  // namespace

TypeLayout layout_of_type(std::uint64_t type) noexcept {
  switch (type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_UCHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT8:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT8:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR8:
    case NVTX_PAYLOAD_ENTRY_TYPE_BYTE:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8:
      return {1, 1};
    case NVTX_PAYLOAD_ENTRY_TYPE_SHORT:
    case NVTX_PAYLOAD_ENTRY_TYPE_USHORT:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR16:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_BF16:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16:
      return {2, 2};
    case NVTX_PAYLOAD_ENTRY_TYPE_INT:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_TF32:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR32:
    case NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY:
    case NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB:
    case NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32:
      return {4, 4};
    case NVTX_PAYLOAD_ENTRY_TYPE_WCHAR:
      return {sizeof(wchar_t), alignof(wchar_t)};
    case NVTX_PAYLOAD_ENTRY_TYPE_LONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_ULONG:
      return {sizeof(long), alignof(long)};
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_SIZE:
    case NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS:
    case NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID:
    case NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE:
      return {8, 8};
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE:
      return {sizeof(long double), alignof(long double)};
    case NVTX_PAYLOAD_ENTRY_TYPE_INT128:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT128:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128:
      return {16, 16};
    default:
      return {0, 1};
  }
}

bool is_string_type(std::uint64_t type) noexcept {
  return type >= NVTX_PAYLOAD_ENTRY_TYPE_CSTRING && type <= NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32;
}

std::uint64_t array_kind(std::uint64_t flags) noexcept {
  return flags & (NVTX_PAYLOAD_ENTRY_FLAG_IS_ARRAY | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX);
}

bool is_string_pointer(const SchemaEntry& entry) noexcept {
  if (!is_string_type(entry.type)) return false;
  if ((entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_POINTER) != 0) return true;
  return array_kind(entry.flags) == 0 && entry.detail == 0;
}

const Schema* SchemaTable::find(std::uint16_t domain, std::uint64_t id) const noexcept {
  if (id >= kFirstDynamicSchema) {
    const std::uint64_t index = id - kFirstDynamicSchema;
    return index < kCapacity ? dynamic_[index].load(std::memory_order_acquire) : nullptr;
  }
  if (id < kFirstStaticSchema) return nullptr;
  const std::uint64_t key = static_key(domain, id);
  for (std::size_t probe = 0; probe < static_.size(); ++probe) {
    const Static& slot = static_[(key * 0x9E3779B97F4A7C15U + probe) % static_.size()];
    const std::uint64_t found = slot.key.load(std::memory_order_acquire);
    if (found == 0) return nullptr;
    if (found == key) return slot.schema.load(std::memory_order_acquire);
  }
  return nullptr;
}

std::uint64_t SchemaTable::insert(std::unique_ptr<Schema> schema) {
  const bool has_static_id = schema->id >= kFirstStaticSchema && schema->id < kFirstDynamicSchema;
  if (has_static_id) {
    if (static_count_ >= kCapacity) return 0;
    const std::uint64_t key = static_key(schema->domain, schema->id);
    for (std::size_t probe = 0; probe < static_.size(); ++probe) {
      Static& slot = static_[(key * 0x9E3779B97F4A7C15U + probe) % static_.size()];
      const std::uint64_t found = slot.key.load(std::memory_order_relaxed);
      if (found != 0 && found != key) continue;
      if (found == 0) ++static_count_;
      // Events in flight may still look at a schema that is registered anew: it is kept.
      slot.schema.store(schema.get(), std::memory_order_release);
      slot.key.store(key, std::memory_order_release);
      break;
    }
  } else {
    if (dynamic_count_ >= kCapacity) return 0;
    schema->id = kFirstDynamicSchema + dynamic_count_;
    dynamic_[dynamic_count_++].store(schema.get(), std::memory_order_release);
  }
  owned_.push_back(std::move(schema));
  return owned_.back()->id;
}

std::uint64_t SchemaTable::register_schema(std::uint16_t domain, const nvtxPayloadSchemaAttr_t& attributes,
                                           bool is_instrumentation) {
  const std::uint64_t mask = attributes.fieldMask;
  const auto has = [mask](std::uint64_t field) { return (mask & field) != 0; };
  if (!has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES) || attributes.entries == nullptr) return 0;
  if (!has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES) || attributes.numEntries > kMaxEntries) return 0;
  if (owned_.size() >= 2 * kCapacity) return 0;

  auto schema = std::make_unique<Schema>();
  schema->domain = domain;
  schema->kind = has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE) ? attributes.type : NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME)) schema->name = text_or_empty(attributes.name);
  if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT)) schema->pack = attributes.packAlign;
  if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID)) schema->id = attributes.schemaId;
  for (std::size_t i = 0; i < attributes.numEntries; ++i) {
    const nvtxPayloadSchemaEntry_t& entry = attributes.entries[i];
    schema->entries.push_back(SchemaEntry{entry.flags, entry.type, text_or_empty(entry.name),
                                          entry.arrayOrUnionDetail, entry.offset});
  }
  if (is_instrumentation && schema->name == "lockstep.step") schema->role = Schema::Role::step;
  if (is_instrumentation && schema->name == "lockstep.group") schema->role = Schema::Role::group;
  lay_out(*schema);
  if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE) &&
      attributes.payloadStaticSize <= kLargestStaticPayload &&
      schema->kind == NVTX_PAYLOAD_SCHEMA_TYPE_STATIC) {
    schema->static_size = static_cast<std::uint32_t>(attributes.payloadStaticSize);
  }
  return insert(std::move(schema));
}

std::uint64_t SchemaTable::register_enum(std::uint16_t domain, const nvtxPayloadEnumAttr_t& attributes) {
  const std::uint64_t mask = attributes.fieldMask;
  const auto has = [mask](std::uint64_t field) { return (mask & field) != 0; };
  if (!has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES) || attributes.entries == nullptr) return 0;
  if (!has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES) || attributes.numEntries > kMaxEntries) return 0;
  if (owned_.size() >= 2 * kCapacity) return 0;

  auto schema = std::make_unique<Schema>();
  schema->domain = domain;
  schema->is_enum = true;
  if (has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME)) schema->name = text_or_empty(attributes.name);
  if (has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID)) schema->id = attributes.schemaId;
  const std::size_t size = has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE) ? attributes.sizeOfEnum : sizeof(int);
  if (size != 1 && size != 2 && size != 4 && size != 8) return 0;
  schema->static_size = static_cast<std::uint32_t>(size);
  schema->alignment = schema->static_size;
  for (std::size_t i = 0; i < attributes.numEntries; ++i) {
    const nvtxPayloadEnum_t& value = attributes.entries[i];
    schema->values.push_back(EnumValue{text_or_empty(value.name), value.value, value.isFlag != 0});
  }
  return insert(std::move(schema));
}

void SchemaTable::lay_out(Schema& schema) const {
  const bool is_union = schema.kind == NVTX_PAYLOAD_SCHEMA_TYPE_UNION ||
                        schema.kind == NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR;
  std::uint64_t cursor = 0;
  std::uint64_t end = 0;
  std::vector<std::uint64_t> offsets(schema.entries.size(), 0);
  bool known = schema.kind != NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC;
  for (std::size_t i = 0; i < schema.entries.size(); ++i) {
    SchemaEntry& entry = schema.entries[i];
    TypeLayout layout = layout_of_type(entry.type);
    const Schema* nested = find(schema.domain, entry.type);
    if (nested != nullptr) layout = TypeLayout{nested->static_size, nested->alignment};
    std::uint64_t count = 1;
    const std::uint64_t array = array_kind(entry.flags);
    const bool pointer = (entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_POINTER) != 0 || is_string_pointer(entry);
    const TypeLayout element = layout;
    if (pointer) {
      layout = TypeLayout{sizeof(void*), alignof(void*)};
    } else if (array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE ||
               (array == 0 && is_string_type(entry.type))) {
      count = entry.detail;
    } else if (array != 0) {
      known = false;
    }
    if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR) layout = TypeLayout{8, 8};
    if (layout.size == 0 || count > kLargestStaticPayload) known = false;
    if (!known) break;
    std::uint64_t alignment = layout.alignment;
    if (schema.pack != 0) alignment = std::min(alignment, schema.pack);
    if (is_union) cursor = 0;
    cursor = entry.offset != 0 ? entry.offset : align_up(cursor, alignment);
    if (cursor > kLargestStaticPayload) {
      known = false;
      break;
    }
    offsets[i] = cursor;
    schema.alignment = std::max(schema.alignment, static_cast<std::uint32_t>(alignment));

    const auto offset = static_cast<std::uint32_t>(cursor);
    if (pointer) {
      PointerField field;
      field.offset = offset;
      field.element_size = element.size;
      if (is_string_type(entry.type) &&
          (array == 0 || array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED)) {
        field.target = text_target(entry.type);
      } else if (array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED) {
        field.target = PointerField::Target::terminated_elements;
      } else if (array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX && entry.detail < i) {
        field.target = PointerField::Target::counted_elements;
        field.count_offset = static_cast<std::uint32_t>(offsets[entry.detail]);
        field.count_size = layout_of_type(schema.entries[entry.detail].type).size;
      } else {
        field.target = PointerField::Target::elements;
        field.count = array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE ? entry.detail : 1;
      }
      if (element.size != 0) schema.pointers.push_back(field);
    } else if (nested != nullptr && !nested->pointers.empty()) {
      for (std::uint64_t element_index = 0; element_index < count && !is_union; ++element_index) {
        const auto base = static_cast<std::uint32_t>(cursor + element_index * nested->static_size);
        for (PointerField field : nested->pointers) {
          field.offset += base;
          field.count_offset += base;
          schema.pointers.push_back(field);
        }
        if (schema.pointers.size() > kMaxEntries) break;
      }
    }
    cursor += layout.size * count;
    end = std::max(end, cursor);
  }
  schema.fixed_layout = known;
  for (std::size_t i = 0; known && i < offsets.size(); ++i) schema.entries[i].offset = offsets[i];
  // Which pointer of a union is the live one, only its selector knows: none is followed.
  if (is_union || !known) schema.pointers.clear();
  schema.static_size =
      known && end <= kLargestStaticPayload
          ? static_cast<std::uint32_t>(
                align_up(end, schema.pack != 0 ? std::min<std::uint64_t>(schema.pack, schema.alignment)
                                               : schema.alignment))
          : 0;
}

}  // namespace lockstep::tracer::nvtx

#include "tracer/inject/sources/nvtx/payload_decode.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "tracer/inject/sources/nvtx/nvtx_api.h"
#include "tracer/inject/sources/nvtx/small_floats.h"
#include "tracer/inject/sources/nvtx/text.h"

namespace lockstep::tracer::nvtx {

namespace {

constexpr int kDeepestNesting = 16;

class Decoder {
 public:
  Decoder(const SchemaTable& schemas, std::uint16_t domain, const PayloadView& payload,
          const std::function<void(const PayloadValue&)>& visit)
      : schemas_(schemas), domain_(domain), payload_(payload), visit_(visit) {}

  bool run();

 private:
  // Where an entry's data is: in the payload itself, or what a pointer in it pointed to.
  struct Source {
    std::span<const std::byte> bytes;
    std::size_t payload_offset = 0;  // of bytes[0], for finding pieces; only meaningful inside the payload
  };

  bool schema(const Schema& schema, const Source& source, std::size_t base, int depth, std::size_t& end);
  bool entry(const Schema& schema, std::size_t index, const Source& source, std::size_t base,
             std::size_t& cursor, int depth);
  bool elements(const Schema& schema, const SchemaEntry& entry, const Source& source, std::size_t at,
                std::uint64_t count, int depth, std::size_t& end);
  bool pointed_to(const Schema& schema, const SchemaEntry& entry, const Source& source, std::size_t at,
                  int depth);
  bool scalar(std::uint64_t type, std::uint64_t flags, std::span<const std::byte> bytes);
  void enumeration(const Schema& schema, std::uint64_t value, std::uint64_t flags);
  void text(std::uint64_t type, std::uint64_t flags, std::span<const std::byte> bytes);
  void emit(const PayloadValue& value) { visit_(value); }

  const SchemaTable& schemas_;
  std::uint16_t domain_;
  const PayloadView& payload_;
  const std::function<void(const PayloadValue&)>& visit_;
  std::string key_;
  std::string text_;
};

std::uint64_t read_unsigned(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
  return value;
}

bool is_character(std::uint64_t type) {
  return type == NVTX_PAYLOAD_ENTRY_TYPE_CHAR || type == NVTX_PAYLOAD_ENTRY_TYPE_CHAR8 ||
         type == NVTX_PAYLOAD_ENTRY_TYPE_CHAR16 || type == NVTX_PAYLOAD_ENTRY_TYPE_CHAR32 ||
         type == NVTX_PAYLOAD_ENTRY_TYPE_WCHAR;
}

std::size_t character_size(std::uint64_t type) {
  return std::max<std::size_t>(layout_of_type(type).size, 1);
}

// Bytes before the first all-zero unit.
std::size_t until_zero(std::span<const std::byte> bytes, std::size_t unit) {
  std::size_t length = 0;
  for (; length + unit <= bytes.size(); length += unit) {
    if (std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(length),
                    bytes.begin() + static_cast<std::ptrdiff_t>(length + unit),
                    [](std::byte b) { return b == std::byte{0}; })) {
      return length;
    }
  }
  return length;
}

bool Decoder::run() {
  const Schema* found = schemas_.find(domain_, payload_.schema);
  const Source source{payload_.bytes, 0};
  if (found == nullptr) {
    key_ = "payload";
    if (is_string_type(payload_.schema)) {
      text(payload_.schema, 0, payload_.bytes);
      return true;
    }
    const TypeLayout layout = layout_of_type(payload_.schema);
    if (layout.size == 0) return true;
    if (payload_.bytes.size() < layout.size) return false;
    return scalar(payload_.schema, 0, payload_.bytes.first(layout.size));
  }
  if (found->is_enum) {
    key_ = found->name.empty() ? "payload" : found->name;
    if (payload_.bytes.size() < found->static_size) return false;
    enumeration(*found, read_unsigned(payload_.bytes.first(found->static_size)), 0);
    return true;
  }
  std::size_t end = 0;
  return schema(*found, source, 0, 0, end);
}

bool Decoder::schema(const Schema& schema, const Source& source, std::size_t base, int depth,
                     std::size_t& end) {
  if (depth > kDeepestNesting) return true;
  std::size_t cursor = base;
  const bool is_union = schema.kind == NVTX_PAYLOAD_SCHEMA_TYPE_UNION ||
                        schema.kind == NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR;
  // Without its selector (Decoder::entry deals with those that have one) a union's members can't be told
  // apart.
  if (!is_union) {
    for (std::size_t i = 0; i < schema.entries.size(); ++i) {
      if (!entry(schema, i, source, base, cursor, depth)) return false;
    }
  }
  end = schema.fixed_layout ? base + schema.static_size : cursor;
  return true;
}

bool Decoder::entry(const Schema& schema, std::size_t index, const Source& source, std::size_t base,
                    std::size_t& cursor, int depth) {
  const SchemaEntry& entry = schema.entries[index];
  const Schema* nested = schemas_.find(schema.domain, entry.type);
  const bool pointer = (entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_POINTER) != 0 || is_string_pointer(entry);
  std::size_t alignment = pointer             ? alignof(void*)
                          : nested != nullptr ? nested->alignment
                                              : layout_of_type(entry.type).alignment;
  if (schema.pack != 0) alignment = std::min<std::size_t>(alignment, schema.pack);
  std::size_t at = schema.fixed_layout || entry.offset != 0
                       ? base + entry.offset
                       : base + (cursor - base + alignment - 1) / alignment * alignment;
  if (at > source.bytes.size()) return false;

  const std::size_t key_length = key_.size();
  if (!key_.empty()) key_ += '.';
  key_ += entry.name.empty() ? std::to_string(index) : entry.name;
  bool whole = true;
  std::size_t end = at;
  const std::uint64_t array = array_kind(entry.flags);
  const auto other_entry = [&](std::uint64_t which, std::uint64_t& value) {
    // The value of an integral entry of the same schema, for lengths and selectors.
    if (which >= schema.entries.size() || !schema.fixed_layout) return false;
    const SchemaEntry& other = schema.entries[which];
    const std::size_t size = layout_of_type(other.type).size;
    if (size == 0 || size > 8 || base + other.offset + size > source.bytes.size()) return false;
    value = read_unsigned(source.bytes.subspan(base + other.offset, size));
    return true;
  };
  if (pointer) {
    whole = pointed_to(schema, entry, source, at, depth);
    end = at + sizeof(void*);
  } else if (nested != nullptr && nested->kind == NVTX_PAYLOAD_SCHEMA_TYPE_UNION) {
    std::uint64_t member = 0;
    end = at + nested->static_size;
    if (other_entry(entry.detail, member) && member < nested->entries.size()) {
      std::size_t member_cursor = at;
      whole = this->entry(*nested, member, source, at, member_cursor, depth + 1);
    }
  } else {
    std::uint64_t count = 1;
    if (array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE || (array == 0 && is_string_type(entry.type))) {
      count = entry.detail;
    } else if (array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED) {
      const std::size_t unit =
          std::max<std::size_t>(nested != nullptr ? nested->static_size : layout_of_type(entry.type).size, 1);
      count = until_zero(source.bytes.subspan(at), unit) / unit;
    } else if (array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX) {
      // In a layout that depends on the data, the length can only be read where it stands before all variable
      // entries.
      count = 0;
      if (entry.detail < index) {
        std::size_t length_at = base;
        bool simple = true;
        for (std::size_t i = 0; i <= entry.detail && simple; ++i) {
          const TypeLayout layout = layout_of_type(schema.entries[i].type);
          simple = layout.size != 0 && array_kind(schema.entries[i].flags) == 0;
          if (!simple) break;
          if (schema.entries[i].offset != 0) {
            length_at = base + schema.entries[i].offset;
          } else {
            length_at =
                base + (length_at - base + layout.alignment - 1) / layout.alignment * layout.alignment;
          }
          if (i < entry.detail) length_at += layout.size;
        }
        const std::size_t size = layout_of_type(schema.entries[entry.detail].type).size;
        if (simple && size <= 8 && length_at + size <= source.bytes.size()) {
          count = read_unsigned(source.bytes.subspan(length_at, size));
        }
      }
    }
    whole = elements(schema, entry, source, at, count, depth, end);
    if (array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED) {
      end += nested != nullptr ? nested->static_size : character_size(entry.type);
    }
  }
  key_.resize(key_length);
  cursor = std::max(cursor, end);
  return whole;
}

bool Decoder::elements(const Schema& schema, const SchemaEntry& entry, const Source& source, std::size_t at,
                       std::uint64_t count, int depth, std::size_t& end) {
  const Schema* nested = schemas_.find(schema.domain, entry.type);
  const std::size_t available = source.bytes.size() - at;
  const bool is_array = array_kind(entry.flags) != 0;
  if (is_string_type(entry.type) || (is_array && is_character(entry.type))) {
    const std::size_t unit = character_size(entry.type);
    if (count > available / unit) return false;
    const auto bytes = source.bytes.subspan(at, count * unit);
    text(entry.type, entry.flags, bytes.first(until_zero(bytes, unit)));
    end = at + count * unit;
    return true;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    if (nested != nullptr && !nested->is_enum) {
      std::size_t element_end = at;
      if (!this->schema(*nested, source, at, depth + 1, element_end)) return false;
      if (element_end == at) break;  // an empty schema: no end to its elements
      at = element_end;
      continue;
    }
    const std::size_t size = nested != nullptr ? nested->static_size : layout_of_type(entry.type).size;
    if (size == 0) return true;
    if (at > source.bytes.size() || size > source.bytes.size() - at) return false;
    const auto bytes = source.bytes.subspan(at, size);
    if (nested != nullptr) {
      enumeration(*nested, read_unsigned(bytes), entry.flags);
    } else if (!scalar(entry.type, entry.flags, bytes)) {
      return false;
    }
    at += size;
  }
  end = at;
  return true;
}

bool Decoder::pointed_to(const Schema& schema, const SchemaEntry& entry, const Source& source, std::size_t at,
                         int depth) {
  if (sizeof(void*) > source.bytes.size() - at) return false;
  const std::uint64_t address = read_unsigned(source.bytes.subspan(at, sizeof(void*)));
  const bool in_payload = source.bytes.data() == payload_.bytes.data();
  const auto piece = std::find_if(payload_.pieces.begin(), payload_.pieces.end(),
                                  [&](const PieceView& view) { return in_payload && view.offset == at; });
  if (piece == payload_.pieces.end()) {
    PayloadValue value;
    value.key = key_;
    value.type = entry.type;
    value.flags = entry.flags;
    value.kind = is_string_type(entry.type) ? trace::ArgumentType::string : trace::ArgumentType::address;
    value.bits = is_string_type(entry.type) ? 0 : address;
    emit(value);
    return true;
  }
  if (is_string_type(entry.type) || is_character(entry.type)) {
    text(entry.type, entry.flags, piece->bytes);
    return true;
  }
  const Schema* nested = schemas_.find(schema.domain, entry.type);
  const std::size_t size = nested != nullptr ? nested->static_size : layout_of_type(entry.type).size;
  if (size == 0) return true;
  std::size_t end = 0;
  return elements(schema, entry, Source{piece->bytes, 0}, 0, piece->bytes.size() / size, depth, end);
}

bool Decoder::scalar(std::uint64_t type, std::uint64_t flags, std::span<const std::byte> bytes) {
  PayloadValue value;
  value.key = key_;
  value.type = type;
  value.flags = flags;
  const std::uint64_t raw = read_unsigned(bytes);
  const auto set_double = [&](double number) {
    value.kind = trace::ArgumentType::float64;
    value.bits = std::bit_cast<std::uint64_t>(number);
  };
  const unsigned unused_bits = bytes.size() < 8 ? 64 - 8 * static_cast<unsigned>(bytes.size()) : 0;
  switch (type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_SHORT:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT:
    case NVTX_PAYLOAD_ENTRY_TYPE_LONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT8:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT64:
      value.kind = trace::ArgumentType::int64;
      value.bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(raw << unused_bits) >> unused_bits);
      break;
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_TF32:
      set_double(std::bit_cast<float>(static_cast<std::uint32_t>(raw)));
      break;
    case NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64:
      set_double(std::bit_cast<double>(raw));
      break;
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE: {
      long double number = 0;
      std::memcpy(&number, bytes.data(), std::min(bytes.size(), sizeof number));
      set_double(static_cast<double>(number));
      break;
    }
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16:
      set_double(half_to_double(static_cast<std::uint16_t>(raw)));
      break;
    case NVTX_PAYLOAD_ENTRY_TYPE_BF16:
      set_double(bfloat_to_double(static_cast<std::uint16_t>(raw)));
      break;
    case NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS:
      value.kind = trace::ArgumentType::address;
      value.bits = raw;
      break;
    case NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE:
      value.kind = trace::ArgumentType::string;
      value.bits = raw;
      break;
    case NVTX_PAYLOAD_ENTRY_TYPE_INT128:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT128:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128:
      return true;
    default:
      value.kind = trace::ArgumentType::uint64;
      value.bits = raw;
  }
  emit(value);
  return true;
}

void Decoder::enumeration(const Schema& schema, std::uint64_t number, std::uint64_t flags) {
  PayloadValue value;
  value.key = key_;
  value.type = schema.id;
  value.flags = flags;
  text_.clear();
  std::uint64_t left = number;
  for (const EnumValue& known : schema.values) {
    if (!known.is_flag && known.value == number) {
      text_ = known.name;
      left = 0;
      break;
    }
    if (known.is_flag && known.value != 0 && (left & known.value) == known.value) {
      if (!text_.empty()) text_ += '|';
      text_ += known.name;
      left &= ~known.value;
    }
  }
  if (left != 0 || text_.empty()) {
    value.kind = trace::ArgumentType::uint64;
    value.bits = number;
  } else {
    value.kind = trace::ArgumentType::string;
    value.text = text_;
  }
  emit(value);
}

void Decoder::text(std::uint64_t type, std::uint64_t flags, std::span<const std::byte> bytes) {
  PayloadValue value;
  value.key = key_;
  value.type = type;
  value.flags = flags;
  value.kind = trace::ArgumentType::string;
  text_.clear();
  const std::size_t unit = character_size(type);
  if (unit == 2) {
    append_utf8_from_utf16(bytes.data(), bytes.size(), text_);
  } else if (unit == 4) {
    append_utf8_from_utf32(bytes.data(), bytes.size(), text_);
  } else {
    text_.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  value.text = text_;
  emit(value);
}

}  // namespace

bool decode_payload(const SchemaTable& schemas, std::uint16_t domain, const PayloadView& payload,
                    const std::function<void(const PayloadValue&)>& visit) {
  return Decoder(schemas, domain, payload, visit).run();
}

}  // namespace lockstep::tracer::nvtx

// The part of the EventBuilder that reads what records say: names, colours, categories, payloads; and finds
// lanes.
#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "tracer/inject/core/training_threads.h"
#include "tracer/inject/sources/nvtx/event_builder.h"
#include "tracer/inject/sources/nvtx/nvtx_api.h"
#include "tracer/inject/sources/nvtx/payload_decode.h"
#include "tracer/inject/sources/nvtx/text.h"

namespace lockstep::tracer::nvtx {

namespace {

trace::Argument numeric_argument(trace::StringId key, std::uint8_t type, std::uint64_t bits) {
  trace::Argument argument;
  argument.key = key;
  switch (type) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
      argument.type = trace::ArgumentType::uint64;
      argument.bits = bits;
      break;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
      argument.type = trace::ArgumentType::uint64;
      argument.bits = static_cast<std::uint32_t>(bits);
      break;
    case NVTX_PAYLOAD_TYPE_INT32:
      argument.type = trace::ArgumentType::int64;
      argument.bits = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(bits)});
      break;
    case NVTX_PAYLOAD_TYPE_DOUBLE:
      argument.type = trace::ArgumentType::float64;
      argument.bits = bits;
      break;
    case NVTX_PAYLOAD_TYPE_FLOAT:
      argument.type = trace::ArgumentType::float64;
      argument.bits =
          std::bit_cast<std::uint64_t>(double{std::bit_cast<float>(static_cast<std::uint32_t>(bits))});
      break;
    default:
      argument.type = trace::ArgumentType::int64;
      argument.bits = bits;
  }
  return argument;
}

double as_double(const trace::Argument& argument) {
  if (argument.type == trace::ArgumentType::float64) return std::bit_cast<double>(argument.bits);
  if (argument.type == trace::ArgumentType::uint64) return static_cast<double>(argument.bits);
  return static_cast<double>(static_cast<std::int64_t>(argument.bits));
}

}  // namespace

void EventBuilder::read_details(const RecordHeader& header, const std::byte* record, Details& details) {
  const Domain& where = domain(header.domain);
  details.domain = where.name;
  const std::byte* section = record + sizeof header;
  if ((header.flags & record_flags::kRangeId) != 0) section += sizeof(RangeReference);
  Style style;
  const bool styled = (header.flags & record_flags::kStyle) != 0;
  if (styled) {
    std::memcpy(&style, section, sizeof style);
    section += sizeof style;
    if (style.category != 0) details.category = category(header.domain, style.category);
    if (style.color != 0) details.color = style.color;
  }
  text_.clear();
  if ((header.flags & record_flags::kRegistered) != 0) {
    std::uint64_t handle = 0;
    std::memcpy(&handle, section, sizeof handle);
    details.name = registered(handle);
    // A group's declaration needs the text, not its id.
    if (header.kind == RecordKind::mark && where.is_instrumentation) registry_.string_text(handle, text_);
  } else if (header.message_bytes != 0) {
    if ((header.flags & record_flags::kWide) != 0) {
      append_utf8_from_wide(section, header.message_bytes, text_);
      details.name = writer_.intern(text_);
    } else {
      text_.assign(reinterpret_cast<const char*>(section), header.message_bytes);
      details.name = name_of(section, header.message_bytes);
    }
  }
  section += round_up_to_unit(header.message_bytes);
  const std::uint8_t numeric = header.flags & record_flags::kNumericTypeMask;
  if (styled && numeric != 0) add_numeric(numeric, style.numeric, where, header.kind, details);
  if ((header.flags & record_flags::kPayload) != 0) {
    const std::byte* const end = record + std::size_t{header.units} * kRecordUnit;
    read_payloads_into(header, std::span(section, static_cast<std::size_t>(end - section)), details);
  }
}

void EventBuilder::add_numeric(std::uint8_t type, std::uint64_t bits, const Domain& domain, RecordKind kind,
                               Details& details) {
  const trace::Argument argument = numeric_argument(writer_.intern("payload"), type, bits);
  if (kind == RecordKind::mark && domain.is_instrumentation) {
    details.is_counter = true;
    details.counter_value = as_double(argument);
    return;
  }
  details.arguments.push_back(argument);
}

void EventBuilder::read_payloads_into(const RecordHeader& header, std::span<const std::byte> section,
                                      Details& details) {
  if (!read_payloads(section, payloads_)) {
    ++large_payloads_;
    return;
  }
  const bool may_have_meaning = domain(header.domain).is_instrumentation &&
                                (header.kind == RecordKind::push || header.kind == RecordKind::mark);
  for (const PayloadView& payload : payloads_) {
    const Schema* schema = registry_.schemas().find(header.domain, payload.schema);
    const Meaning meaning = may_have_meaning && schema != nullptr && details.meaning == Meaning::none
                                ? meaning_of_schema(schema->name)
                                : Meaning::none;
    values_.clear();
    const std::size_t arguments_before = details.arguments.size();
    const bool whole =
        decode_payload(registry_.schemas(), header.domain, payload, [&](const PayloadValue& value) {
          if ((value.flags & NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE) != 0 &&
              value.kind == trace::ArgumentType::string) {
            if (value.type == NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE) {
              details.name = registered(value.bits);
              registry_.string_text(value.bits, text_);
            } else {
              details.name = writer_.intern(value.text);
              text_ = value.text;
            }
            return;
          }
          if (value.type == NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB) {
            details.color = static_cast<std::uint32_t>(value.bits);
            return;
          }
          if (value.type == NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY) {
            details.category = category(header.domain, static_cast<std::uint32_t>(value.bits));
            return;
          }
          trace::Argument argument;
          argument.key = writer_.intern(value.key);
          argument.type = value.kind;
          argument.bits = value.bits;
          if (value.kind == trace::ArgumentType::string) {
            argument.bits = value.type == NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE
                                ? registered(value.bits)
                                : writer_.intern(value.text);
          }
          details.arguments.push_back(argument);
          if (meaning != Meaning::none)
            values_.push_back(FieldValue{value.kind, value.bits, std::string(value.text)});
        });
    if (!whole) {
      ++short_payloads_;
      details.arguments.resize(arguments_before);
    } else if (meaning != Meaning::none && read_fields(meaning, values_, details.fields)) {
      // Groups are declared by marks, everything else is a range.
      if ((meaning == Meaning::group) == (header.kind == RecordKind::mark)) details.meaning = meaning;
    } else if (meaning != Meaning::none) {
      ++short_payloads_;
    }
  }
}

const EventBuilder::Domain& EventBuilder::look_up_domain(std::uint16_t index) {
  if (index >= domains_.size()) domains_.resize(std::size_t{index} + 1);
  Domain& domain = domains_[index];
  if (!domain.known) {
    const std::string name = registry_.domain_name(index);
    const auto listener = listeners_.find(name);
    domain = Domain{true, name == kInstrumentationDomain, writer_.intern(name),
                    listener != listeners_.end() ? listener->second : nullptr};
  }
  return domain;
}

trace::StringId EventBuilder::name_of(const std::byte* text, std::uint32_t bytes) {
  if (const trace::StringId known = names_.find(text, bytes); known != 0) return known;
  const trace::StringId id = writer_.intern(std::string_view(reinterpret_cast<const char*>(text), bytes));
  names_.keep(text, bytes, id);
  return id;
}

trace::StringId EventBuilder::registered(std::uint64_t handle) {
  constexpr std::uint64_t kMaxCached = std::uint64_t{1} << 20U;
  if (handle != 0 && handle < registered_.size() && registered_[handle] != 0) return registered_[handle];
  std::string text;
  if (!registry_.string_text(handle, text)) return writer_.intern("(unknown string handle)");
  const trace::StringId id = writer_.intern(text);
  if (handle < kMaxCached) {
    if (handle >= registered_.size()) registered_.resize(handle + 1, 0);
    registered_[handle] = id;
  }
  return id;
}

trace::StringId EventBuilder::category(std::uint16_t domain, std::uint32_t category) {
  const std::uint64_t version = registry_.category_names_version();
  if (version != category_version_ || categories_.size() > 4096) {
    categories_.clear();
    category_version_ = version;
  }
  const auto found = categories_.find({domain, category});
  if (found != categories_.end()) return found->second;
  std::string name;
  if (!registry_.category_name(domain, category, name)) name = std::to_string(category);
  return categories_[{domain, category}] = writer_.intern(name);
}

trace::LaneId EventBuilder::lane(Thread& thread, trace::LaneKind kind) {
  trace::LaneId& lane = kind == trace::LaneKind::compute_thread  ? thread.compute_
                        : kind == trace::LaneKind::communication ? thread.communication_
                                                                 : thread.host_;
  if (lane == Thread::kNoLane && kind == trace::LaneKind::host_thread && host_lanes_ != nullptr)
    lane = host_lanes_->lane(thread.id_, thread.name_);
  if (lane == Thread::kNoLane) {
    if (kind == trace::LaneKind::compute_thread) note_training_thread(thread.id_);
    if (kind == trace::LaneKind::communication) note_communication_thread(thread.id_);
    lane = writer_.add_lane(trace::Lane{kind, process_, thread.id_, 0, thread.name_});
  }
  return lane;
}

trace::LaneId EventBuilder::counter_lane(trace::StringId name) {
  const auto found = counter_lanes_.find(name);
  if (found != counter_lanes_.end()) return found->second;
  trace::Lane lane;
  lane.kind = trace::LaneKind::counter;
  lane.process = process_;
  lane.name = text_;
  return counter_lanes_[name] = writer_.add_lane(lane);
}

void EventBuilder::rename_threads() {
  const std::uint64_t version = registry_.thread_names_version();
  if (version == thread_version_) return;
  thread_version_ = version;
  for (Thread& thread : threads_) {
    std::string name;
    if (!registry_.thread_name(thread.id_, name) || name == thread.name_) continue;
    thread.name_ = name;
    for (const trace::LaneId lane : {thread.host_, thread.compute_, thread.communication_}) {
      if (lane != Thread::kNoLane) writer_.rename_lane(lane, thread.name_);
    }
  }
}

}  // namespace lockstep::tracer::nvtx

#include "analyzer/import/kineto/event_fields.h"

#include <cstring>

namespace lockstep::analyzer::kineto {
namespace {

using simdjson::error_code;
using simdjson::SUCCESS;
namespace ondemand = simdjson::ondemand;

// The token of a scalar: simdjson's view of it runs on over the white space behind it.
inline std::string_view scalar(ondemand::value& value) {
  std::string_view token = value.raw_json_token();
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  if (token.size() >= 2 && token.front() == '"') return token.substr(1, token.size() - 2);
  return token;
}

void set(std::string_view& field, ondemand::value& value) {
  if (field.data() == nullptr) field = scalar(value);
}

// A list stands in the file as text ("[0, 1]") or as an array.
error_code set_list(std::string_view& field, ondemand::value& value) {
  if (field.data() != nullptr) return SUCCESS;
  field = scalar(value);
  if (field != "[") return SUCCESS;
  ondemand::array array;
  if (const error_code error = value.get_array().get(array)) return error;
  return array.raw_json().get(field);
}

bool is(const char* key, std::string_view name) {
  return simdjson::ondemand::raw_json_string(reinterpret_cast<const std::uint8_t*>(key))
      .unsafe_is_equal(name);
}

error_code read_device_argument(const char* key, ondemand::value& value, DeviceArguments& out) {
  switch (key[0]) {
    case 'c':
      if (is(key, "correlation")) set(out.correlation, value);
      break;
    case 's':
      if (is(key, "stream")) set(out.stream, value);
      break;
    case 'g':
      if (is(key, "grid")) return set_list(out.grid, value);
      break;
    case 'b':
      if (is(key, "block")) return set_list(out.block, value);
      break;
    case 'd':
      if (is(key, "device"))
        set(out.device, value);
      else if (is(key, "dtype"))
        set(out.dtype, value);
      break;
    case 'C':
      if (is(key, "Collective name")) set(out.collective_name, value);
      break;
    case 'I':
      if (is(key, "In msg nelems")) set(out.in_elements, value);
      break;
    case 'O':
      if (is(key, "Out msg nelems")) set(out.out_elements, value);
      break;
    case 'G':
      if (is(key, "Group size")) set(out.group_size, value);
      break;
    case 'P':
      if (is(key, "Process Group Name"))
        set(out.group_name, value);
      else if (is(key, "Process Group Description"))
        set(out.group_description, value);
      else if (is(key, "Process Group Ranks"))
        return set_list(out.group_ranks, value);
      break;
    case 'R':
      if (is(key, "Rank")) set(out.rank, value);
      break;
    case 'S':
      if (is(key, "Src Rank"))
        set(out.source_rank, value);
      else if (is(key, "Seq"))
        set(out.sequence, value);
      break;
    case 'D':
      if (is(key, "Dst Rank")) set(out.destination_rank, value);
      break;
    default:
      break;
  }
  return SUCCESS;
}

error_code read_arguments(ondemand::value& value, EventFields& fields) {
  fields.arguments_read = true;
  ondemand::json_type type;
  if (const error_code error = value.type().get(type)) return error;
  if (type != ondemand::json_type::object) return SUCCESS;
  ondemand::object object;
  if (const error_code error = value.get_object().get(object)) return error;
  const bool metadata = fields.phase == "M";
  for (auto result : object) {
    if (const error_code error = result.error()) return error;
    ondemand::field&& field = std::move(result).value_unsafe();
    const ondemand::raw_json_string key = field.key();
    ondemand::value& member = field.value();
    if (metadata) {
      if (is(key.raw(), "name")) set(fields.argument_name, member);
    } else if (const error_code error = read_device_argument(key.raw(), member, fields.arguments)) {
      return error;
    }
  }
  return SUCCESS;
}

// Flow arrows, instants, counters, asynchronous ranges.
bool is_of_no_interest(std::string_view phase) {
  return phase != "X" && phase != "M" && phase != "B" && phase != "E";
}

bool wants_arguments(const EventFields& fields) {
  if (fields.phase == "X")
    return fields.kind == Category::kernel || fields.kind == Category::copy ||
           fields.kind == Category::sync || fields.kind == Category::launch;
  return fields.phase == "M";
}

}  // namespace

error_code read_fields(ondemand::object& object, EventFields& fields) {
  for (auto result : object) {
    if (const error_code error = result.error()) return error;
    ondemand::field&& field = std::move(result).value_unsafe();
    ondemand::value& value = field.value();
    const char* const key = field.key().raw();
    switch (key[0]) {
      case 'p':
        if (is(key, "ph")) {
          set(fields.phase, value);
          if (is_of_no_interest(fields.phase)) return SUCCESS;
        } else if (is(key, "pid"))
          set(fields.process, value);
        break;
      case 'c':
        if (is(key, "cat") && fields.category.data() == nullptr) {
          set(fields.category, value);
          fields.kind = category_of(fields.category);
        }
        break;
      case 'n':
        if (is(key, "name")) set(fields.name, value);
        break;
      case 't':
        if (is(key, "ts"))
          set(fields.time, value);
        else if (is(key, "tid"))
          set(fields.thread, value);
        break;
      case 'd':
        if (is(key, "dur")) set(fields.duration, value);
        break;
      case 'a':
        if (is(key, "args") && !fields.arguments_read && wants_arguments(fields)) {
          if (const error_code error = read_arguments(value, fields)) return error;
        }
        break;
      default:
        break;
    }
  }
  fields.whole = true;
  if (fields.arguments_read || !wants_arguments(fields)) return SUCCESS;
  // `args` stood before `ph` or `cat`, which say what to look for in it (or there are none): once more.
  if (const error_code error = object.reset().error()) return error;
  for (auto field : object) {
    ondemand::raw_json_string key;
    ondemand::value value;
    if (const error_code error = field.key().get(key)) return error;
    if (const error_code error = field.value().get(value)) return error;
    if (!is(key.raw(), "args") || fields.arguments_read) continue;
    if (const error_code error = read_arguments(value, fields)) return error;
  }
  return SUCCESS;
}

}  // namespace lockstep::analyzer::kineto

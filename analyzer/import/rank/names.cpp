#include "analyzer/import/rank/names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

namespace lockstep::analyzer {
namespace {

using trace::Operation;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') || c == '_';
}

// `part` is in lower case.
bool contains_any_case(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower(a) == b; }) != text.end();
}

// ^(void )?((nccl|rccl|msccl)\w*Kernel|mscclpp::)
bool is_communication_kernel(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  if (name.starts_with("mscclpp::")) return true;  // a namespace of kernels of its own names
  if (name.starts_with("nccl") || name.starts_with("rccl")) {
    name.remove_prefix(4);
  } else if (name.starts_with("msccl")) {
    name.remove_prefix(5);
  } else {
    return false;
  }
  const auto word_end = std::find_if_not(name.begin(), name.end(), is_word);
  return name.substr(0, static_cast<std::size_t>(word_end - name.begin())).find("Kernel") !=
         std::string_view::npos;
}

// Lower case, without underscores, of the part that can speak of an operation: up to the first '(' or '<'.
std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '(' || c == '<') break;
    if (c != '_') out += lower(c);
  }
  return out;
}

}  // namespace

Operation operation_in_name(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Operation>, 13> kOperations{{
      {"barrier", Operation::barrier},  // before allreduce: `all_reduce_barrier`
      {"reducescatter", Operation::reduce_scatter},
      {"allreduce", Operation::all_reduce},
      {"allgather", Operation::all_gather},
      {"alltoall", Operation::all_to_all},
      {"broadcast", Operation::broadcast},
      {"bcast", Operation::broadcast},
      {"sendrecv", Operation::send_recv},
      {"scatter", Operation::scatter},
      {"gather", Operation::gather},
      {"reduce", Operation::reduce},
      {"send", Operation::send},
      {"recv", Operation::recv},
  }};
  const std::string text = plain(name);
  for (const auto& [part, operation] : kOperations)
    if (text.find(part) != std::string::npos) return operation;
  return Operation::unknown;
}

trace::DataType data_type_of(std::string_view dtype) {
  static constexpr std::array<std::pair<std::string_view, trace::DataType>, 16> kTypes{{
      {"Float", trace::DataType::float32},
      {"BFloat16", trace::DataType::bfloat16},
      {"Half", trace::DataType::float16},
      {"Double", trace::DataType::float64},
      {"Byte", trace::DataType::uint8},
      {"Bool", trace::DataType::uint8},
      {"Char", trace::DataType::int8},
      {"Int", trace::DataType::int32},
      {"Long", trace::DataType::int64},
      {"UInt32", trace::DataType::uint32},
      {"UInt64", trace::DataType::uint64},
      {"Float8_e4m3fn", trace::DataType::float8_e4m3},
      {"Float8_e4m3fnuz", trace::DataType::float8_e4m3},
      {"Float8_e5m2", trace::DataType::float8_e5m2},
      {"Float8_e5m2fnuz", trace::DataType::float8_e5m2},
      {"QUInt8", trace::DataType::uint8},
  }};
  for (const auto& [text, type] : kTypes)
    if (text == dtype) return type;
  return trace::DataType::unknown;
}

KernelKind kernel_kind(std::string_view name) {
  if (is_communication_kernel(name)) return KernelKind::communication;
  for (const std::string_view part :
       {"nccl", "rccl", "msccl", "allreduce", "all_reduce", "allgather", "all_gather", "reducescatter",
        "reduce_scatter", "alltoall", "all_to_all"})
    if (contains_any_case(name, part)) return KernelKind::unclassified;
  return KernelKind::compute;
}

std::optional<std::int64_t> profiler_step(std::string_view name) {
  constexpr std::string_view kPrefix = "ProfilerStep#";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  std::int64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + kPrefix.size(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || number < 0) return std::nullopt;
  return number;
}

bool launches_work(std::string_view name) {
  for (const std::string_view part : {"launch", "memcpy", "memset", "enqueue", "prefetch"})
    if (contains_any_case(name, part)) return true;
  return false;
}

trace::Pass pass_in_name(std::string_view name) {
  if (name.starts_with("forward")) return trace::Pass::forward;
  if (name.starts_with("backward")) return trace::Pass::backward;
  return trace::Pass::other;
}

bool names_data_loading(std::string_view name) {
  // "loader" first: it is rare, and few names hold an 'o' before an "ader".
  for (std::size_t at = 0; at + 6 <= name.size(); ++at) {
    if (lower(name[at]) != 'l' || lower(name[at + 1]) != 'o' || lower(name[at + 2]) != 'a' ||
        lower(name[at + 3]) != 'd' || lower(name[at + 4]) != 'e' || lower(name[at + 5]) != 'r')
      continue;
    std::size_t before = at;
    if (before > 0 && name[before - 1] == '_') --before;
    if (before < 4) continue;
    const std::string_view word = name.substr(before - 4, 4);
    if (lower(word[0]) == 'd' && lower(word[1]) == 'a' && lower(word[2]) == 't' && lower(word[3]) == 'a')
      return true;
  }
  return false;
}

}  // namespace lockstep::analyzer

#include "analyzer/import/rank/names.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/numbers.h"

namespace lockstep::analyzer {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

// `part` is in lower case.
bool contains_any_case(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower(a) == b; }) != text.end();
}

}  // namespace

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

KernelName kernel_name(std::string_view name) {
  if (const std::optional<trace::CommunicationName> known = trace::communication_kernel(name))
    return {known->computes ? KernelKind::compute : KernelKind::communication, known->operation};
  return {trace::looks_like_communication(name) ? KernelKind::unclassified : KernelKind::compute};
}

std::optional<std::int64_t> profiler_step(std::string_view name) {
  constexpr std::string_view kPrefix = "ProfilerStep#";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  return parse_number<std::int64_t>(name.substr(kPrefix.size()), 0);
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

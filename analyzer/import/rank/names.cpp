#include "analyzer/import/rank/names.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace lockstep::analyzer {
namespace {

using trace::Operation;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
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

bool is_point_to_point(Operation operation) {
  return operation == Operation::send || operation == Operation::recv || operation == Operation::send_recv;
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

// What files' names tell: a rank, for files that do not say it themselves, and an order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::analyzer {

// The number behind the last "rank" or "worker" in the name, as in `rank-3.json`, `trace_rank3.json.gz`,
// `worker3_step_12.…`; else a number that stands alone before the first dot, as in `step_3.json` or `3.json`.
// The folders' names do not count.
// Bounded: a process or a date is no rank.
std::optional<std::int32_t> rank_in_file_name(std::string_view path);
inline constexpr std::int32_t kMaxRanks = 1 << 17;     // where "rank" stands before it: more than any job has
inline constexpr std::int32_t kMaxUnsaidRanks = 1024;  // where nothing in the name says that it is one

// The same without bounds, for those who can hold it against something.
struct NumberInName {
  std::int32_t number = 0;
  bool says_rank = false;  // "rank" stands before it, or "worker" before a small one
};
std::optional<NumberInName> number_in_file_name(std::string_view path);

// What torch.profiler's tensorboard_trace_handler calls its files, where it is told no name:
// HOST_PID.TIMESTAMP.pt.trace.json. A host that ends with "rank" is a name that somebody gave.
struct HandlerName {
  std::string host;
  std::int64_t process = 0;
};
std::optional<HandlerName> handler_file_name(std::string_view path);

// As people sort: numbers within names by their value, and a name before those that begin with it, whatever
// follows their first dots (`rank-1.json`, `rank-1-copy.json`, `rank-2.json`, `rank-10.json`). A strict
// order.
bool name_comes_before(std::string_view a, std::string_view b);

}  // namespace lockstep::analyzer

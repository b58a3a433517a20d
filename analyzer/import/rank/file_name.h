// The rank that a file's name gives, for files that do not say it themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lockstep::analyzer {

// The number behind the last "rank" or "worker" in the name, as in `rank-3.json`, `trace_rank3.json.gz`,
// `worker3_step_12.…`; else a number that stands alone before the first dot, as in `step_3.json` or `3.json`.
// The folders' names do not count.
std::optional<std::int32_t> rank_in_file_name(std::string_view path);

}  // namespace lockstep::analyzer

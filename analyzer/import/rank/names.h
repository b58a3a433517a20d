// What names mean, in whatever file they stand (docs/metrics.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analyzer/model/operation.h"
#include "trace/event.h"

namespace lockstep::analyzer {

// The operation that a name speaks of: a kernel's (`ncclDevKernel_AllReduce_…`), a collective's
// (`_allgather_base`), a range's
// (`nccl:all_to_all`). Case and underscores do not matter, and what follows a '(' or '<' does not count.
trace::Operation operation_in_name(std::string_view name);

// c10's names of element types: "Float", "BFloat16", "Long", …
trace::DataType data_type_of(std::string_view dtype);

// The pass that a name begins with: `forward`, `backward`; else other. For ranges whose source says no pass.
trace::Pass pass_in_name(std::string_view name);

// By a kernel's name alone. `unclassified` looks like communication and is none that is known.
enum class KernelKind : std::uint8_t { compute, communication, unclassified };
KernelKind kernel_kind(std::string_view name);

// n of "ProfilerStep#n".
std::optional<std::int64_t> profiler_step(std::string_view name);

// Whether a runtime or driver call of this name puts work onto a stream. Others (queries, waits) launch
// nothing.
bool launches_work(std::string_view name);

// Whether the name holds `data_?loader`, in any case.
bool names_data_loading(std::string_view name);

}  // namespace lockstep::analyzer

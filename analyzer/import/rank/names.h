// What names mean, in whatever file they stand (docs/metrics.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analyzer/model/operation.h"
#include "trace/events/communication_names.h"
#include "trace/events/event.h"

namespace lockstep::analyzer {

using trace::operation_in_name;

// c10's names of element types: "Float", "BFloat16", "Long", …
trace::DataType data_type_of(std::string_view dtype);

// The pass that a name begins with: `forward`, `backward`; else other. For ranges whose source says no pass.
trace::Pass pass_in_name(std::string_view name);

// By a kernel's name alone (trace/events/communication_names.h). `unclassified` looks like communication and
// is none that is known. A kernel that does both computes; settle_communication() adds the other half.
enum class KernelKind : std::uint8_t { compute, communication, unclassified };
struct KernelName {
  KernelKind kind = KernelKind::compute;
  trace::Operation operation = trace::Operation::unknown;  // of communication, as far as the name says it
};
KernelName kernel_name(std::string_view name);

// n of "ProfilerStep#n".
std::optional<std::int64_t> profiler_step(std::string_view name);

// Whether a runtime or driver call of this name puts work onto a stream. Others (queries, waits) launch
// nothing.
bool launches_work(std::string_view name);

// Whether the name holds `data_?loader`, in any case.
bool names_data_loading(std::string_view name);

}  // namespace lockstep::analyzer

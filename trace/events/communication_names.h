// Which kernels and host ranges communicate, by their names, over all libraries known here: the one table
// that the recorder and all importers go by. The names are those of the libraries' public sources.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/events/event.h"

namespace lockstep::trace {

struct CommunicationName {
  Operation operation = Operation::unknown;  // unknown: the name does not say
  const char* library = "";                  // "NCCL", "DeepEP", …
  bool computes = false;                     // a GEMM (or the like) and a collective in one kernel
  // What a range on the host lasts for.
  enum class Span : std::uint8_t {
    whole,  // from its issue to its end, whichever thread it is written down under
    call,   // what its thread does for it: an operator of the library
    issue,  // only until it is handed over to what runs it
  };
  Span span = Span::whole;
};

// What a kernel of this name communicates. The name is as profilers write it: mangled, or demangled with or
// without return type, template arguments and parameters. Empty where no library has such a kernel.
std::optional<CommunicationName> communication_kernel(std::string_view name);

// The same of a range or operator on the host that surrounds one operation: `nccl:all_reduce`,
// `c10d::allreduce_`, `MPI_Allreduce`.
std::optional<CommunicationName> communication_range(std::string_view name);

// Whether a kernel of no known library speaks of a library or a collective in its name.
bool looks_like_communication(std::string_view name);

// The operation that a name speaks of: a kernel's (`ncclDevKernel_AllReduce_…`), a collective's
// (`_allgather_base`), a range's (`nccl:all_to_all`). Case and underscores do not matter, and template
// arguments and parameters do not count.
Operation operation_in_name(std::string_view name);

}  // namespace lockstep::trace

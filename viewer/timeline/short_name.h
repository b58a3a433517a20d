// What of a kernel's name a label shows.
#pragma once

#include <string_view>

namespace lockstep::viewer {

// The function's own name, a part of `name`: "vectorized_elementwise_kernel" of
// "void at::native::vectorized_elementwise_kernel<4, …>(int, …)". Without return type, the namespaces before
// it, template arguments and parameters; of "cutlass::Kernel" and "gemvx::kernel" with the namespace, which
// says more. What has none of these, or is no C++ ("aten::mul", "Memcpy HtoD (Pageable -> Device)", NCCL's
// names), stays as it is, and so do names above 4 kB. Linear, without allocation.
std::string_view short_name(std::string_view name);

}  // namespace lockstep::viewer

// The process groups of a PyTorch process, and every collective and message that is handed to them.
//
// c10d calls a backend (Gloo, NCCL) through its table of virtual functions, whoever asks: dist.all_reduce,
// DDP's C++ reducer, FSDP, functional collectives. Each entry is replaced once, by a function that notes the
// call and passes it on. What the program sees is unchanged: arguments, results, exceptions, order.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lockstep::tracer::pytorch {

// A backend object of a new group. `ranks` are global, in the group's order. Notes it, and from now on the
// calls that it gets. Empty if all is well, else what can't be recorded and why. Call it before the group is
// used, or again (`known`) when its description has changed.
std::string declare_group(void* backend, std::string_view backend_name, std::string_view name,
                          std::string_view description, std::span<const std::int32_t> ranks,
                          bool known = false);

}  // namespace lockstep::tracer::pytorch

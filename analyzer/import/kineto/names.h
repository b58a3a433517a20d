// What Kineto's names and categories mean (docs/metrics.md, "Activities").
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/events/event.h"

namespace lockstep::analyzer::kineto {

// An event's `cat`. Both today's names and those of PyTorch up to 1.11 ("Kernel", "Memcpy", "Operator", …).
enum class Category : std::uint8_t { other, kernel, copy, sync, launch, host, operation, python, overhead };
Category category_of(std::string_view cat);

}  // namespace lockstep::analyzer::kineto

// Which host ranges tell where steps lie that nobody marked: the one table of their names.
#pragma once

#include <cstdint>
#include <string_view>

namespace lockstep::analyzer {

enum class StepName : std::uint8_t {
  none,
  optimizer,  // a step ends with it; it says that the rank trains, too
  pass,       // a whole forward pass
  part,       // of a pipeline's stage: the pass of one microbatch
  training,   // that the rank trains, and no more
};
StepName step_name(std::string_view name);

}  // namespace lockstep::analyzer

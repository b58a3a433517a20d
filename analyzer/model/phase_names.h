// Which host ranges say that a job does something else than training: the one table of their names, whoever
// wrote them: Lockstep's hook in Python, PyTorch, frameworks, or the program through NVTX.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lockstep::analyzer {

enum class Phase : std::uint8_t {
  compilation,
  checkpoint,
  evaluation,
  start_up,
  checkpoint_beside,  // written in the background: the training goes on
};
inline constexpr std::size_t kPhaseCount = 5;

// By its name, without regard to case; nothing where the name says none of these.
std::optional<Phase> phase_of_range(std::string_view name);

}  // namespace lockstep::analyzer

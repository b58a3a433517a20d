#include "reference_trainer/modes/modes.h"

#include <array>

#include "reference_trainer/modes/list.h"

namespace lockstep::trainer {
namespace {

template <class... Modes>
constexpr std::array<const Mode*, sizeof...(Modes)> table(ModeList<Modes...>) {
  return {&Modes::mode...};
}
constexpr auto kModes = table(AllModes{});

}  // namespace

std::span<const Mode* const> all_modes() {
  return kModes;
}

}  // namespace lockstep::trainer

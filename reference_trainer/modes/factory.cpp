#include "reference_trainer/modes/factory.h"

#include "reference_trainer/modes/list.h"

namespace lockstep::trainer {
namespace {

template <class... Modes>
StrategyFactory find(ModeList<Modes...>, const Mode& mode) {
  StrategyFactory found = nullptr;
  ((&Modes::mode == &mode ? static_cast<void>(found = Modes::make) : static_cast<void>(0)), ...);
  return found;
}

}  // namespace

StrategyFactory factory_of(const Mode& mode) {
  return find(AllModes{}, mode);
}

}  // namespace lockstep::trainer

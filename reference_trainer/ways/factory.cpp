#include "reference_trainer/ways/factory.h"

#include "reference_trainer/ways/list.h"

namespace lockstep::trainer {
namespace {

template <class... Ways>
StrategyFactory find(WayList<Ways...>, const Way& way) {
  StrategyFactory found = nullptr;
  ((&Ways::way == &way ? static_cast<void>(found = Ways::make) : static_cast<void>(0)), ...);
  return found;
}

}  // namespace

StrategyFactory factory_of(const Way& way) {
  return find(AllWays{}, way);
}

}  // namespace lockstep::trainer

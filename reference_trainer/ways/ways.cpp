#include "reference_trainer/ways/ways.h"

#include <array>

#include "reference_trainer/ways/list.h"

namespace lockstep::trainer {
namespace {

template <class... Ways>
constexpr std::array<const Way*, sizeof...(Ways)> table(WayList<Ways...>) {
  return {&Ways::way...};
}
constexpr auto kWays = table(AllWays{});

}  // namespace

std::span<const Way* const> all_ways() {
  return kWays;
}

}  // namespace lockstep::trainer

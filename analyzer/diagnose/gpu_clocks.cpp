#include "analyzer/diagnose/gpu_clocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "analyzer/diagnose/gpu_readings.h"
#include "analyzer/intervals/median.h"
#include "analyzer/lateness/late_parts.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr double kAlike = 0.02;      // clocks that agree
constexpr double kOneKind = 0.05;    // memory clocks of GPUs of one kind
constexpr double kMostly = 0.5;      // of the readings: what throttles it
constexpr double kHardlyEver = 0.1;  // of the readings: nothing does

constexpr std::array<std::string_view, kThrottleCount> kThrottledBy{"heat", "hardware", "power"};

std::string frequency(double mhz) {
  return mhz < 1000 ? fmt::format("{:.0f} MHz", mhz) : fmt::format("{:.2f} GHz", mhz / 1000);
}

struct OtherRank {
  std::size_t index = 0;  // in the table
  GpuReadings gpu;
};

// The median of the others' by one quantity, of those of which it is known.
template <class Quantity>
std::optional<double> of_others(const std::vector<OtherRank>& others, const Quantity& quantity) {
  std::vector<double> values;
  for (const OtherRank& other : others)
    if (const std::optional<double> value = quantity(other.gpu)) values.push_back(*value);
  return values.empty() ? std::nullopt : std::optional(lower_median(std::move(values)));
}

// The upper median: it goes with the lower median of the times.
double clock_of_others(const std::vector<OtherRank>& others) {
  std::vector<double> negated;
  for (const OtherRank& other : others) negated.push_back(-other.gpu.sm_mhz);
  return -lower_median(std::move(negated));
}

std::optional<double> throttled_share(const std::vector<OtherRank>& others, std::size_t by) {
  return of_others(others, [by](const GpuReadings& gpu) { return gpu.throttled[by]; });
}

// What throttles it in half of the readings: of several, what throttles it most beyond the others.
std::optional<Throttle> main_throttle(const GpuReadings& own, const std::vector<OtherRank>& others) {
  std::optional<Throttle> main;
  double most = 0;
  for (std::size_t i = 0; i < kThrottleCount; ++i) {
    if (own.throttled[i].value_or(0) < kMostly) continue;
    const double beyond = *own.throttled[i] - throttled_share(others, i).value_or(0);
    if (main && beyond <= most) continue;
    main = static_cast<Throttle>(i);
    most = beyond;
  }
  return main;
}

bool is_never_throttled(const GpuReadings& own) {
  return std::all_of(own.throttled.begin(), own.throttled.end(),
                     [](const auto& share) { return share && *share < kHardlyEver; });
}

void say_throttling(const GpuReadings& own, const std::vector<OtherRank>& others,
                    std::vector<std::string>& evidence) {
  for (std::size_t i = 0; i < kThrottleCount; ++i) {
    const std::optional<double> of_them = throttled_share(others, i);
    if (own.throttled[i].value_or(0) < kHardlyEver) continue;
    std::string text = fmt::format("its GPU is throttled by {} in {} of the readings", kThrottledBy[i],
                                   format_share(own.throttled[i]));
    if (of_them) text += fmt::format(", the others' in {}", format_share(of_them));
    evidence.push_back(std::move(text));
  }
  if (is_never_throttled(own)) evidence.emplace_back("neither heat nor hardware nor power throttles its GPU");
  const std::optional<double> watts = of_others(others, [](const GpuReadings& gpu) { return gpu.watts; });
  const std::optional<double> celsius = of_others(others, [](const GpuReadings& gpu) { return gpu.celsius; });
  std::string text;
  if (own.watts && watts)
    text = fmt::format("its GPU draws {:.0f} W, the others' {:.0f} W", *own.watts, *watts);
  if (own.celsius && celsius)
    text += fmt::format("{} {:.0f} °C, the others' {:.0f} °C", text.empty() ? "its GPU is at" : "; it is at",
                        *own.celsius, *celsius);
  if (!text.empty()) evidence.push_back(text + " (medians)");
}

std::string remedy_of(const GpuReadings& own, const std::vector<OtherRank>& others, std::int32_t rank) {
  const std::optional<Throttle> throttle = main_throttle(own, others);
  if (throttle == Throttle::heat)
    return fmt::format(
        "cool rank {}'s GPU: fans, airflow, what runs beside it; on its host `nvidia-smi -q -d "
        "TEMPERATURE,PERFORMANCE` has its limits",
        rank);
  if (throttle == Throttle::hardware)
    return fmt::format(
        "look at power supply, cables and cooling of rank {}'s host: the hardware itself slows its GPU "
        "(`nvidia-smi -q -d PERFORMANCE`)",
        rank);
  if (throttle == Throttle::power)
    return fmt::format(
        "compare the power limit of rank {}'s GPU with the others' (`nvidia-smi -q -d POWER`), and raise it "
        "(`nvidia-smi -pl WATTS`)",
        rank);
  if (is_never_throttled(own))
    return fmt::format(
        "on rank {}'s host `nvidia-smi -q -d CLOCK` beside another rank's: its clocks may have been set lower; "
        "`nvidia-smi -rgc` and `nvidia-smi -rac` reset them",
        rank);
  return fmt::format(
      "on rank {}'s host `nvidia-smi -q -d PERFORMANCE,CLOCK,POWER` beside another rank's says what holds its "
      "clock down: a power limit, heat, or clocks that were set (`nvidia-smi -rgc` and `nvidia-smi -rac` reset "
      "them)",
      rank);
}

// A rank whose clock is as low, and which does not compute half as much longer.
std::optional<std::int32_t> as_low_and_not_longer(const StepTable& steps, const RankLateness& late,
                                                  const GpuReadings& own,
                                                  const std::vector<OtherRank>& others) {
  for (const OtherRank& other : others) {
    if (other.gpu.sm_mhz > own.sm_mhz * (1 + kAlike)) continue;
    const std::int64_t longer = time_beyond_others(steps, other.index, Cause::compute).ns;
    if (static_cast<double>(longer) < kExplains * static_cast<double>(late.cause_ns))
      return steps.ranks[other.index];
  }
  return std::nullopt;
}

ClockComparison answer(ClockComparison::Answer answer, std::string evidence) {
  ClockComparison result;
  result.answer = answer;
  result.evidence.push_back(std::move(evidence));
  return result;
}

}  // namespace

ClockComparison compare_clocks(const FindingContext& context, const StepTable& steps,
                               const RankLateness& late) {
  using enum ClockComparison::Answer;
  const auto readings_of = [&](std::size_t rank) {
    return gpu_readings(context.diagnosis.job, context.report, steps, rank);
  };
  const std::size_t own_index = steps.index_of(late.rank);
  const std::optional<GpuReadings> own = readings_of(own_index);
  if (!own) return {};
  std::vector<OtherRank> others;
  std::size_t recorded = 0;
  for (std::size_t rank = 0; rank < steps.rank_count(); ++rank) {
    if (rank == own_index) continue;
    const std::optional<GpuReadings> gpu = readings_of(rank);
    recorded += gpu ? 1 : 0;
    if (gpu && gpu->tells) others.push_back({rank, *gpu});
  }
  if (recorded == 0) return {};
  if (!own->tells)
    return answer(cannot_tell,
                  fmt::format("whether its GPU's clock is why cannot be told: it was read {} while the rank "
                              "computed",
                              format_plural(static_cast<std::int64_t>(own->count), "time")));
  if (others.empty() || 2 * others.size() < steps.rank_count() - 1)
    return answer(cannot_tell,
                  fmt::format("whether its GPU's clock is why cannot be told: of the others' it is "
                              "known of {} of {}",
                              others.size(), steps.rank_count() - 1));
  const double theirs = clock_of_others(others);
  const std::string both = fmt::format("its GPU runs at {} while it computes, the others' at {} (medians)",
                                       frequency(own->sm_mhz), frequency(theirs));
  if (own->sm_mhz >= theirs * (1 - kAlike)) return answer(excluded, "clocks are not why: " + both);
  const std::optional<double> memory =
      of_others(others, [](const GpuReadings& gpu) { return gpu.memory_mhz; });
  if (own->memory_mhz && memory && std::abs(*own->memory_mhz - *memory) > kOneKind * *memory) {
    ClockComparison result = answer(
        cannot_tell,
        fmt::format("{}; the clocks of their memory differ as well ({} beside {}): the GPUs may not be of "
                    "one kind",
                    both, frequency(*own->memory_mhz), frequency(*memory)));
    result.remedy = fmt::format(
        "on rank {}'s host: `nvidia-smi -q -d PERFORMANCE,CLOCK` beside another rank's, and whether their GPUs "
        "are of one kind (`nvidia-smi -L`)",
        late.rank);
    return result;
  }
  if (const auto other = as_low_and_not_longer(steps, late, *own, others))
    return answer(excluded,
                  fmt::format("clocks are not why: {}, but that of rank {}, which does not compute as "
                              "much longer, is as low",
                              both, *other));
  const double at_most = theirs / own->sm_mhz - 1;
  if (at_most * static_cast<double>(late.others_ns) < kExplains * static_cast<double>(late.cause_ns))
    return answer(excluded, fmt::format("clocks explain less than half of it: {}, which is at most {} longer",
                                        both, format_share(at_most)));
  ClockComparison result = answer(
      lower, fmt::format("{}: work that is bound by the clock takes {} longer", both, format_share(at_most)));
  result.doing =
      fmt::format("with its GPU at {} and the others' at {}", frequency(own->sm_mhz), frequency(theirs));
  say_throttling(*own, others, result.evidence);
  result.remedy = remedy_of(*own, others, late.rank);
  return result;
}

}  // namespace lockstep::analyzer

#include "analyzer/diagnose/gpu_readings.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/intervals/interval_set.h"
#include "analyzer/intervals/median.h"
#include "analyzer/metrics/compute_intervals.h"
#include "base/numbers.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr Nanoseconds kPeriod = 100'000'000;      // the recorder reads ten times a second
constexpr Nanoseconds kMostReadings = 1'000'000;  // between two points
constexpr std::size_t kEnough = 5, kParts = 10;
constexpr std::string_view kSmClock = "SM clock (MHz)";
constexpr std::array<std::string_view, kThrottleCount> kThrottled{
    "throttled by heat", "throttled by hardware", "throttled by power"};

const RankTrace* trace_of(const Job& job, std::int32_t rank) {
  for (const RankTrace& trace : job.ranks)
    if (trace.rank == rank) return &trace;
  return nullptr;
}

bool shares_its_gpu(const Job& job, const RankTrace& trace) {
  return !trace.device_uuid.empty() &&
         std::any_of(job.ranks.begin(), job.ranks.end(), [&](const auto& other) {
           return other.rank != trace.rank && other.device_uuid == trace.device_uuid;
         });
}

const CounterTrack* track_of(const RankTrace& trace, const std::string& name) {
  for (const CounterTrack& track : trace.counters)
    if (track.name == name) return &track;
  return nullptr;
}

// The number in "gpu 3 SM clock (MHz)".
std::optional<std::int32_t> gpu_of_clock(std::string_view name) {
  constexpr std::string_view kGpu = "gpu ";
  if (!name.starts_with(kGpu) || !name.ends_with(kSmClock)) return std::nullopt;
  name.remove_prefix(kGpu.size());
  name.remove_suffix(std::min(name.size(), kSmClock.size() + 1));
  return parse_number<std::int32_t>(name, 0);
}

// "gpu 3 ": how the names of its GPU's counters begin. The recorder numbers a rank's own GPU by the local
// rank, though the process may see that one alone, as cuda:0; of a process without a local rank it follows
// all, numbered as the process sees them.
std::optional<std::string> gpu_prefix(const RankTrace& trace) {
  std::vector<std::int32_t> gpus;
  for (const CounterTrack& track : trace.counters)
    if (const auto gpu = gpu_of_clock(track.name)) gpus.push_back(*gpu);
  if (gpus.empty()) return std::nullopt;
  constexpr std::string_view kCuda = "cuda:";
  const std::string_view device = trace.device;
  const auto own = device.starts_with(kCuda) ? parse_number<std::int32_t>(device.substr(kCuda.size()), 0)
                                             : std::optional<std::int32_t>();
  // "cuda" where it is a GPU without a number, "" where the input does not say.
  if (!own && !device.empty() && device != "cuda") return std::nullopt;
  const bool is_listed = own && std::find(gpus.begin(), gpus.end(), *own) != gpus.end();
  if (is_listed) return "gpu " + std::to_string(*own) + " ";
  const bool is_the_one = gpus.size() == 1 && own.value_or(0) == 0;
  return is_the_one ? std::optional("gpu " + std::to_string(gpus.front()) + " ") : std::nullopt;
}

// Calls `reading(time, value)` for each reading behind the points: those that changed nothing were left out,
// up to the last one before a change.
template <class Reading>
void for_each_reading(const CounterTrack& track, const Reading& reading) {
  const CounterPoint* last = nullptr;
  for (const CounterPoint& point : track.points) {
    if (last != nullptr && last->value == point.value) {
      // Days without a change, or a damaged time, are looked at more seldom.
      const Nanoseconds length = saturating_length(last->time, point.time);
      const Nanoseconds period = std::max(kPeriod, length / kMostReadings);
      const Nanoseconds between = length / period;
      for (Nanoseconds i = 1; i < between; ++i) reading(last->time + i * period, point.value);
    }
    if (std::isfinite(point.value)) reading(point.time, point.value);
    last = &point;
  }
}

std::vector<double> values_within(const CounterTrack& track, const IntervalSet& computes) {
  std::vector<double> values;
  for_each_reading(track, [&](Nanoseconds time, double value) {
    if (computes.contains(time)) values.push_back(value);
  });
  return values;
}

std::optional<double> median_within(const RankTrace& trace, const std::string& name,
                                    const IntervalSet& computes) {
  const CounterTrack* const track = track_of(trace, name);
  if (track == nullptr) return std::nullopt;
  std::vector<double> values = values_within(*track, computes);
  return values.empty() ? std::nullopt : std::optional(lower_median(std::move(values)));
}

std::optional<double> share_within(const RankTrace& trace, const std::string& name,
                                   const IntervalSet& computes) {
  const CounterTrack* const track = track_of(trace, name);
  if (track == nullptr) return std::nullopt;
  const std::vector<double> values = values_within(*track, computes);
  if (values.empty()) return std::nullopt;
  const auto set = std::count_if(values.begin(), values.end(), [](double value) { return value > 0; });
  return static_cast<double>(set) / static_cast<double>(values.size());
}

}  // namespace

std::optional<GpuReadings> gpu_readings(const Job& job, const Report& report, const StepTable& steps,
                                        std::size_t rank) {
  const RankTrace* const trace = trace_of(job, steps.ranks[rank]);
  if (trace == nullptr || shares_its_gpu(job, *trace)) return std::nullopt;
  const std::optional<std::string> prefix = gpu_prefix(*trace);
  if (!prefix) return std::nullopt;
  std::vector<Interval> windows;
  for (std::size_t step = 0; step < steps.steps.size(); ++step) {
    const StepReport& cell = steps.cell(step, rank);
    windows.push_back({cell.begin_ns + report.origin_aligned_ns, cell.end_ns + report.origin_aligned_ns});
  }
  const IntervalSet computes = intersect(compute_of(*trace), IntervalSet::from(windows));
  GpuReadings result;
  std::vector<double> clocks;
  std::set<std::size_t> parts;
  const CounterTrack* const clock = track_of(*trace, *prefix + std::string(kSmClock));
  if (clock == nullptr) return std::nullopt;  // "gpu 03 SM clock (MHz)": no counter of ours
  for_each_reading(*clock, [&](Nanoseconds time, double value) {
    if (value <= 0 || !computes.contains(time)) return;
    clocks.push_back(value);
    const auto next = std::upper_bound(windows.begin(), windows.end(), time,
                                       [](Nanoseconds t, const Interval& step) { return t < step.begin; });
    const auto step = static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, next - windows.begin()) - 1);
    parts.insert(step * kParts / windows.size());
  });
  result.count = clocks.size();
  result.tells = clocks.size() >= kEnough && 2 * parts.size() >= std::min(kParts, windows.size());
  if (!clocks.empty()) result.sm_mhz = lower_median(std::move(clocks));
  result.memory_mhz = median_within(*trace, *prefix + "memory clock (MHz)", computes);
  result.watts = median_within(*trace, *prefix + "power (W)", computes);
  result.celsius = median_within(*trace, *prefix + "temperature (°C)", computes);
  for (std::size_t i = 0; i < kThrottleCount; ++i)
    result.throttled[i] = share_within(*trace, *prefix + std::string(kThrottled[i]), computes);
  return result;
}

}  // namespace lockstep::analyzer

// What a run costs beside its steps: phases, memory, and events that recording dropped.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/figures/figures.h"
#include "analyzer/figures/steady_part.h"

namespace lockstep::analyzer::figures {
namespace {

constexpr double kSecond = 1e9;
constexpr double kMegabyte = 1e6;

std::vector<ScopedValue> phase_times(const SteadyPart& run) {
  const AccountReport& account = run.report.account;
  if (account.ranks.empty()) return {};
  std::vector<ScopedValue> values;
  for (const Spending phase : {Spending::start_up, Spending::warm_up, Spending::compilation,
                               Spending::checkpoint, Spending::evaluation, Spending::shutdown}) {
    const double mean = static_cast<double>(account.spent[phase]) / static_cast<double>(account.ranks.size());
    values.push_back({fmt::format("phase {}", to_string(phase)), mean});
  }
  return values;
}

// The rank that has most decides, of each counter of memory in use.
std::vector<ScopedValue> peaks(const SteadyPart& run) {
  std::vector<ScopedValue> values;
  double most = 0;
  for (const CounterReport& counter : run.report.counters) {
    if (counter.name != "memory resident (bytes)") continue;
    values.push_back({fmt::format("rank {}", counter.rank), counter.max});
    most = std::max(most, counter.max);
  }
  if (!values.empty()) values.insert(values.begin(), {"", most});
  return values;
}

}  // namespace

const FigureKind phase_time{.name = "phase_time",
                            .meaning = "time of a phase of the run: the mean over ranks",
                            .unit = Unit::nanoseconds,
                            .floor = kSecond,
                            .values = phase_times};
const FigureKind peak_memory{.name = "peak_memory",
                             .meaning = "the most memory that a recorded process had resident (record --cpu)",
                             .unit = Unit::bytes,
                             .floor = 64 * kMegabyte,
                             .values = peaks};
const FigureKind dropped_events{.name = "dropped_events",
                                .meaning = "events that recording had no room for, of all ranks",
                                .unit = Unit::count,
                                .values = [](const SteadyPart& run) {
                                  double dropped = 0;
                                  for (const RankReport& rank : run.report.ranks)
                                    dropped += static_cast<double>(rank.dropped_events);
                                  return std::vector<ScopedValue>{{"", dropped}};
                                }};

}  // namespace lockstep::analyzer::figures

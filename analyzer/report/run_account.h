// Where the wall time of a run went, as data: the first block of a report (docs/metrics.md, "The run's
// account").
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace lockstep::analyzer {

// What a run's wall time goes into, in order of precedence: each instant of a rank goes to the first that
// holds.
enum class Spending : std::uint8_t {
  // On purpose (record --steps, --duration), not to be read (the file is cut), or outside of a profile of a
  // part of the run.
  not_recorded,
  compilation,
  checkpoint,
  evaluation,
  after_failure,  // what a rank of a failed job still waited after its last work
  start_up,       // imports, process group, model and data; all before the first training step
  warm_up,        // steps that are left out of steady training at the begin
  steady,         // steps after that
  shutdown,       // after the last step
  other,          // between steps that do not touch; all of a rank without steps
};
inline constexpr std::size_t kSpendingCount = 10;
const char* to_string(Spending spending);  // "after_failure"
const char* title_of(Spending spending);   // "hung or waiting until the job ended"
// In the order of a run's life, as people read it.
inline constexpr std::array<Spending, kSpendingCount> kSpendingsByLife{
    Spending::start_up,   Spending::compilation, Spending::warm_up,       Spending::steady,
    Spending::checkpoint, Spending::evaluation,  Spending::after_failure, Spending::other,
    Spending::shutdown,   Spending::not_recorded};

struct Account {
  std::array<std::int64_t, kSpendingCount> ns{};
  std::int64_t& operator[](Spending spending) { return ns[static_cast<std::size_t>(spending)]; }
  std::int64_t operator[](Spending spending) const { return ns[static_cast<std::size_t>(spending)]; }
  std::int64_t total() const;
  std::int64_t recorded() const;  // all but Spending::not_recorded
};

struct RankAccount {
  std::int32_t rank = 0;
  Account spent;  // sums to AccountReport::wall_ns
  // Saved in the background, while something else was done; until it hung or waited for the job's end.
  std::int64_t checkpoint_beside_ns = 0;
};

// The rank that the others waited for longest while the job started.
struct LateStart {
  std::int32_t rank = 0;
  std::int64_t waited_ns =
      0;  // the others, in the mean, in operations before its first computation in a step
};

// Where the wall time of the run went. All ranks have the same: from the earliest that is known of any rank
// to the latest.
struct AccountReport {
  std::int64_t begin_ns = 0;  // relative to the report's origin, as all times
  std::int64_t wall_ns = 0;
  std::vector<RankAccount> ranks;
  Account spent;  // Σ over ranks: wall_ns times the number of ranks
  // steady ÷ all, of what was recorded of the ranks whose trace is whole (of all, where none is); absent
  // where no rank has steps.
  std::optional<double> goodput;
  // Absent where that is less than two seconds, or a twentieth of the wall time.
  std::optional<LateStart> late_start = std::nullopt;

  std::int64_t recorded_ns() const;  // of all ranks
  std::int64_t training_ns() const;  // of that what lies between start-up and shutdown
};

}  // namespace lockstep::analyzer

// A rank that does one thing longer than the others in nearly every step, where everything else moves about
// too much for its lateness to show: a sleep between the steps, a slow loader, on a host whose cores are
// busy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyzer/lateness/late_ranks.h"
#include "analyzer/lateness/step_table.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Made once for a table, asked for each of its ranks.
class LateByCause {
 public:
  // The table is to outlive it.
  explicit LateByCause(const StepTable& table) : table_(table) {}

  // Of loading data, host-bound time and copies, the one that the rank (an index) spends longest in beyond
  // the others, where all of this holds of it as judge_lateness asks of lateness itself: in blocks of steps
  // beyond chance at kLatenessLevel; in the mean by three times kLeastLateness of a step, in both halves by
  // half of that, and by more than it moves between blocks; and in eight of ten steps longer than the median
  // of the others. What the rank is late by, `judged`, must leave room for it: its mean and two standard
  // errors reach half of the time. Compute, transfer and what was queued are left to judge_lateness: by these
  // healthy ranks differ too. The result's mean, share and movement are of that time. O(steps) a rank, after
  // O(steps · ranks · log ranks) once a cause.
  std::optional<RankLateness> find(std::size_t rank, const RankLateness& judged);

  // The same of the time in which the rank's training threads were ready and had no core; absent where that
  // is not known of all. The result's cause is compute, which it lengthens.
  std::optional<RankLateness> find_waiting_for_core(std::size_t rank, const RankLateness& judged);

  // The same of the time in which the rank's training threads ran, whatever else kept the cores busy, where
  // it is a quarter more than the others' as well. The result's cause is host-bound or compute, the first
  // that is longer than the others' by half of that; its time is no more than that. Mean, share and movement
  // are of the time that the threads ran.
  std::optional<RankLateness> find_running(std::size_t rank, const RankLateness& judged);

 private:
  // What each rank does in each step, and the lower median of what the others do: [step · ranks + rank], in
  // ns.
  struct Times {
    std::vector<std::int64_t> own, of_others;
  };
  enum class Kind : std::uint8_t { data_wait, host_bound, copy, waiting_for_core, running };

  bool can_tell() const;
  const Times& times_of(Kind kind);
  std::optional<RankLateness> late_by(Kind kind, std::size_t rank, const RankLateness& judged);

  const StepTable& table_;
  std::map<Kind, Times> times_;
  std::optional<bool> running_known_;  // of every rank and step
};

}  // namespace lockstep::analyzer

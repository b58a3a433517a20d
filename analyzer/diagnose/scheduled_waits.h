// Waits that a pipeline's schedule makes: its bubble, and nobody's lateness.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/exposed_waits.h"
#include "analyzer/diagnose/idle_stages.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// For a stage that computes no more than the median one, the others' waiting is on schedule: in its messages,
// unless it did nothing meanwhile (IdleStages), and in collectives over several stages for which the first
// stage comes last, since its last backward is the last of all.
class ScheduledWaits {
 public:
  // `regions`: as IdleStages.
  ScheduledWaits(const Job& job, const Report& report, const std::vector<IntervalSet>& regions = {});

  bool contains(const CollectiveReport& collective) const;
  // The rank's stage computes no more than the median one.
  bool is_on_schedule(std::int32_t rank) const;
  // The others' exposed waiting in it; 0 in messages of a stage on schedule, of which idle() tells.
  std::int64_t off_schedule_in(const CollectiveReport& collective) const;
  const IdleStages& idle() const { return idle_; }
  // What is left of a rank's blame without them.
  void take_from(BlameReport& blame) const;
  // Sets the blame's scheduled_… figures.
  void note_in(BlameReport& blame) const;
  // Exposed waiting in such collectives, over all ranks. Waiting in messages is pipeline bubble, not barrier
  // wait.
  std::int64_t in_collectives_ns() const { return in_collectives_ns_; }

 private:
  bool is_drain(const CollectiveReport& collective) const;
  bool is_on_schedule(const CollectiveReport& message) const;

  IdleStages idle_;
  struct Sum {
    std::int64_t collectives = 0, blame_ns = 0;
  };
  std::map<std::int32_t, Sum> scheduled_;         // by the rank that came last
  std::map<std::int32_t, std::int64_t> exposed_;  // without scheduled waits; where there are any
  std::set<std::pair<std::string, std::int32_t>> on_schedule_;      // pipeline and rank
  std::map<std::int32_t, std::set<std::int32_t>> others_of_first_;  // by rank of a first stage on schedule
  std::int64_t in_collectives_ns_ = 0;
};

}  // namespace lockstep::analyzer

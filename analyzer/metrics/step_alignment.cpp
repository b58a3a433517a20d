#include "analyzer/metrics/step_alignment.h"

#include <fmt/format.h>

#include <cstdint>
#include <span>

#include "analyzer/metrics/windows.h"
#include "analyzer/model/warns_of.h"

namespace lockstep::analyzer {
namespace {

constexpr std::int64_t kApart = 2, kOneIn = 20;

struct StepOfRank {
  std::int64_t step = 0;
  std::int32_t rank = 0;
};

// The first and the last step that one operation is in.
struct Spread {
  StepOfRank first, last;
  std::int64_t apart() const { return last.step - first.step; }
};

// Nothing where fewer than two ranks launched it within a step.
std::optional<Spread> spread_of(const Job& job, std::span<const MatchRecord> records) {
  std::optional<Spread> spread;
  std::size_t known = 0;
  for (const MatchRecord record : records) {
    const RankTrace& rank = job.ranks[record.rank];
    const std::uint32_t mark = launching_step(rank, activity_of(job, record));
    if (mark >= rank.steps.size()) continue;
    const StepOfRank own{rank.steps[mark].number, rank.rank};
    if (known++ == 0) spread = Spread{own, own};
    if (own.step < spread->first.step) spread->first = own;
    if (own.step > spread->last.step) spread->last = own;
  }
  return known < 2 ? std::nullopt : spread;
}

}  // namespace

std::optional<Warning> find_steps_apart(const Job& job, const Matching& matching) {
  std::int64_t within_steps = 0, apart = 0;
  Spread most;
  for (const Match& match : matching.matches) {
    const std::optional<Spread> spread = spread_of(job, matching.records_of(match));
    if (!spread) continue;
    ++within_steps;
    if (spread->apart() < kApart) continue;
    ++apart;
    if (spread->apart() > most.apart()) most = *spread;
  }
  if (apart == 0 || apart * kOneIn < within_steps) return std::nullopt;
  return Warning{
      kStepsApart,
      fmt::format("the ranks' steps do not go together: what is in step {} of rank {} is in step {} of "
                  "rank {}, and so are {} of {} operations two steps or more apart. A step is counted "
                  "by each rank's own optimizer: nobody is judged by steps, and none is left out. Mark "
                  "what all ranks do together as a step (`lockstep.step`, docs/instrumentation.md)",
                  most.last.step, most.last.rank, most.first.step, most.first.rank, apart, within_steps),
      kNoRank};
}

}  // namespace lockstep::analyzer

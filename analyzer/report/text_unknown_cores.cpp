// Of ranks that come last on cores of which too little is known: what is known, in words.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/intervals/median.h"
#include "analyzer/report/text_sections.h"

namespace lockstep::analyzer {
namespace {

// By how much more than the median of the others it has of `what`, in a mean step; nothing where that is not
// known.
std::optional<std::int64_t> beyond_others(const Report& report, std::int32_t rank,
                                          std::optional<std::int64_t> Measures::*what) {
  std::vector<std::int64_t> others;
  std::optional<std::int64_t> own;
  for (const RankReport& one : report.ranks) {
    if (!(one.measures.*what)) continue;
    if (one.rank == rank)
      own = one.measures.*what;
    else
      others.push_back(*(one.measures.*what));
  }
  if (!own || others.empty() || report.lateness.steps <= 0) return std::nullopt;
  return (*own - lower_median(std::move(others))) / report.lateness.steps;
}

// Of a rank whose passes last longer, on cores of which too little is known.
std::string what_passes_are_longer_by(const Report& report, const RankLateness& late) {
  const auto is_most = [&late](const std::optional<std::int64_t>& ns) {
    return ns && 2 * *ns >= late.cause_ns;
  };
  const auto ran = beyond_others(report, late.rank, &Measures::on_core_ns);
  if (!ran || is_most(ran))
    return "and computes longer, with nothing to show that it has more to compute. Beside other programs the "
           "same work takes some processes half as long again (where their memory lies, what others take of "
           "caches): if it is another rank in the next run, it is that. A counter `tokens` tells how much each "
           "rank has to do";
  if (is_most(beyond_others(report, late.rank, &Measures::run_queue_ns)))
    return "and its threads wait longer for a core than the others', but run no longer. Whether it would come "
           "last with cores of its own nobody can tell";
  return "and its passes last longer, though its threads run no longer than the others': they wait for a core "
         "or sleep, too briefly to be told apart";
}

}  // namespace

std::string without_cores_known(const Report& report) {
  const auto late_by = [&](Cause cause) {
    return std::ranges::any_of(report.lateness.ranks, [cause](const RankLateness& rank) {
      return rank.not_accused_because == NotAccused::cores_unknown && rank.cause == cause;
    });
  };
  const bool is_scheduling_known = std::ranges::any_of(
      report.ranks, [](const RankReport& rank) { return rank.measures.run_queue_ns.has_value(); });
  if (is_scheduling_known)
    for (const RankLateness& rank : report.lateness.ranks)
      if (rank.not_accused_because == NotAccused::cores_unknown && rank.cause == Cause::compute)
        return what_passes_are_longer_by(report, rank);
  if (late_by(Cause::transfer) || is_scheduling_known)
    return "because operations end later on it than on the others. Within a host that may be because its "
           "communication threads wait for a core, of which nothing is recorded";
  return "and whether its threads had no core meanwhile nothing tells: `lockstep record` with the source "
         "`scheduling`, which is on by default, does";
}

}  // namespace lockstep::analyzer

#include "analyzer/diagnose/compared_ranks.h"

#include <utility>

namespace lockstep::analyzer {
namespace {

struct RankSpan {
  std::uint32_t rank = 0;
  TimeSpan span;
};

std::vector<RankSpan> spans_of(const Diagnosis& diagnosis, const Delay& delay) {
  std::vector<RankSpan> spans;
  for (const MatchRecord record : diagnosis.matching.records_of(diagnosis.matching.matches[delay.match])) {
    const Nanoseconds since = left_at(diagnosis.job, diagnosis.matching, delay, record.rank);
    if (since == kUnknownTime && delay.since_match != kNone) continue;
    spans.push_back({record.rank, {since, activity_of(diagnosis.job, record).begin}});
  }
  return spans;
}

}  // namespace

std::vector<ComparedRanks> compared_ranks(const Diagnosis& diagnosis, std::span<const Delay* const> delays) {
  std::map<std::vector<std::uint32_t>, ComparedRanks> by_ranks;
  for (const Delay* delay : delays) {
    const std::uint32_t late =
        diagnosis.matching.records_of(diagnosis.matching.matches[delay->match])[delay->late_record].rank;
    const std::vector<RankSpan> spans = spans_of(diagnosis, *delay);
    std::vector<std::uint32_t> ranks;
    bool has_late = false;
    for (const RankSpan& of_rank : spans) {
      ranks.push_back(of_rank.rank);
      has_late = has_late || of_rank.rank == late;
    }
    if (!has_late || ranks.size() < 2) continue;
    ComparedRanks& compared = by_ranks[std::move(ranks)];
    compared.late = late;
    ++compared.delays;
    for (const RankSpan& of_rank : spans) compared.spans[of_rank.rank].push_back(of_rank.span);
  }
  std::vector<ComparedRanks> all;
  all.reserve(by_ranks.size());
  for (auto& [ranks, compared] : by_ranks) all.push_back(std::move(compared));
  return all;
}

}  // namespace lockstep::analyzer

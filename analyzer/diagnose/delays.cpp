#include "analyzer/diagnose/delays.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/intervals/median.h"
#include "analyzer/model/stopped.h"

namespace lockstep::analyzer {
namespace {

// A cause explains a delay if it makes up at least the kExplains-th part of it.
constexpr std::int64_t kExplains = 4;

// Operations that follow each other: those of a group, or of a pair of ranks in it.
using Series = std::tuple<std::uint32_t, std::int64_t, std::int64_t>;

Series series_of(const Matching& matching, const Match& match) {
  if (!match.point_to_point) return {match.group, -1, -1};
  const std::span<const MatchRecord> records = matching.records_of(match);
  return {match.group, records.front().rank, records.back().rank};
}

// Records of a match are sorted by rank.
std::optional<MatchRecord> record_of(const Matching& matching, std::uint32_t match, std::uint32_t rank) {
  const std::span<const MatchRecord> records = matching.records_of(matching.matches[match]);
  const auto found =
      std::lower_bound(records.begin(), records.end(), rank,
                       [](const MatchRecord& record, std::uint32_t r) { return record.rank < r; });
  return found != records.end() && found->rank == rank ? std::optional(*found) : std::nullopt;
}

class Finder {
 public:
  Finder(const Job& job, const Matching& matching, const std::vector<MatchWaits>& waits,
         const JobWaits& job_waits, const std::vector<std::vector<CommunicationProfile>>& profiles,
         const std::vector<Nanoseconds>& begins)
      : job_(job),
        matching_(matching),
        waits_(waits),
        job_waits_(job_waits),
        profiles_(profiles),
        begins_(begins),
        match_of_(job.ranks.size()) {}

  Delays run(const std::stop_token& stop) {
    Delays result;
    result.of_match.assign(matching_.matches.size(), kNone);
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      match_of_[rank].assign(job_.ranks[rank].communications.size(), kNone);
    }
    for (const std::uint32_t index : in_order_of_last_arrival()) {
      throw_if_stopped(stop);
      const Match& match = matching_.matches[index];
      if (match.evidence == Evidence::rejected || match.evidence == Evidence::none) continue;
      // [rank index] -> the operation of this series that the rank left last with nothing to compute.
      std::map<std::uint32_t, std::uint32_t>& left = left_[series_of(matching_, match)];
      const std::span<const MatchRecord> records = matching_.records_of(match);
      if (waits_[index].last_arriver) {
        const std::uint32_t late = *waits_[index].last_arriver;
        const auto found = left.find(records[late].rank);
        Delay delay = explain(index, late, found == left.end() ? kNone : found->second);
        if (is_waiting(delay.cause) && delay.excess_ns > 0) delay.waited_in = longest_wait(delay);
        result.of_match[index] = static_cast<std::uint32_t>(result.delays.size());
        result.delays.push_back(delay);
      }
      for (const MatchRecord record : records) {
        match_of_[record.rank][record.communication] = index;
        if (!profiles_[record.rank][record.communication].computing_at_end) left[record.rank] = index;
      }
    }
    return result;
  }

 private:
  static bool is_waiting(Cause cause) {
    return cause == Cause::barrier_wait || cause == Cause::pipeline_bubble;
  }

  std::vector<std::uint32_t> in_order_of_last_arrival() const {
    std::vector<std::pair<Nanoseconds, std::uint32_t>> order;
    for (std::uint32_t index = 0; index < matching_.matches.size(); ++index) {
      Nanoseconds last = kUnknownTime;
      for (const MatchRecord record : matching_.records_of(matching_.matches[index])) {
        last = std::max(last, activity_of(job_, record).begin);
      }
      order.emplace_back(last, index);
    }
    std::sort(order.begin(), order.end());
    std::vector<std::uint32_t> result;
    result.reserve(order.size());
    for (const auto& [time, index] : order) result.push_back(index);
    return result;
  }

  // Time by cause from leaving `since` until arriving; nothing where the rank was not in `since`, or where it
  // isn't known.
  std::optional<RankTimeline::CauseTimes> between(std::uint32_t since, MatchRecord arrival) const {
    // Where activities were lost, what the rank did in the meantime is anyone's guess.
    if (!job_.ranks[arrival.rank].lost.empty()) return std::nullopt;
    RankTimeline::CauseTimes times = profiles_[arrival.rank][arrival.communication].until_begin;
    if (since == kNone) return times;
    const std::optional<MatchRecord> start = record_of(matching_, since, arrival.rank);
    if (!start) return std::nullopt;
    const RankTimeline::CauseTimes& before = profiles_[start->rank][start->communication].until_end;
    // A rank may start the next operation before this one ends.
    for (std::size_t cause = 0; cause < kCauseCount; ++cause) {
      times[cause] = std::max<std::int64_t>(0, times[cause] - before[cause]);
    }
    return times;
  }

  Delay explain(std::uint32_t index, std::uint32_t late, std::uint32_t since) const {
    const std::span<const MatchRecord> records = matching_.records_of(matching_.matches[index]);
    Delay delay;
    delay.match = index;
    delay.late_record = late;
    delay.since_match = since;
    const std::optional<RankTimeline::CauseTimes> own = between(since, records[late]);
    std::vector<RankTimeline::CauseTimes> others;
    others.reserve(records.size());
    for (std::uint32_t i = 0; i < records.size(); ++i) {
      if (i == late) continue;
      if (const auto times = between(since, records[i])) others.push_back(*times);
    }
    if (!own || others.empty()) return delay;
    for (std::size_t cause = 0; cause < kCauseCount; ++cause) {
      std::vector<std::int64_t> values;
      values.reserve(others.size());
      for (const RankTimeline::CauseTimes& times : others) values.push_back(times[cause]);
      const std::int64_t typical = lower_median(std::move(values));
      if ((*own)[cause] - typical <= delay.excess_ns) continue;
      delay.cause = static_cast<Cause>(cause);
      delay.own_ns = (*own)[cause];
      delay.others_ns = typical;
      delay.excess_ns = delay.own_ns - delay.others_ns;
    }
    if (since == kNone) look_at_entry(records, late, delay);
    // A cause that is small beside the lateness does not explain it.
    if (delay.excess_ns < lateness(records, late) / kExplains) delay.excess_ns = 0;
    return delay;
  }

  // Ranks that have met in no operation before began to be recorded when they did: what made them late until
  // then is not in the trace.
  void look_at_entry(std::span<const MatchRecord> records, std::uint32_t late, Delay& delay) const {
    std::vector<Nanoseconds> others;
    others.reserve(records.size());
    Nanoseconds first = begins_[records[late].rank];
    for (std::uint32_t i = 0; i < records.size(); ++i) {
      first = std::min(first, begins_[records[i].rank]);
      if (i != late) others.push_back(begins_[records[i].rank]);
    }
    const Nanoseconds own = begins_[records[late].rank], typical = lower_median(std::move(others));
    if (own - typical <= delay.excess_ns) return;
    delay.entered_late = true;
    delay.cause = Cause::other;
    delay.own_ns = own - first;
    delay.others_ns = typical - first;
    delay.excess_ns = own - typical;
  }

  // How much later than the median of the others the late rank arrived.
  std::int64_t lateness(std::span<const MatchRecord> records, std::uint32_t late) const {
    std::vector<std::int64_t> arrivals;
    arrivals.reserve(records.size());
    for (std::uint32_t i = 0; i < records.size(); ++i) {
      if (i != late) arrivals.push_back(activity_of(job_, records[i]).begin);
    }
    return activity_of(job_, records[late]).begin - lower_median(std::move(arrivals));
  }

  // The operation between leaving and arriving in which the late rank waited longest for somebody else.
  std::optional<std::uint32_t> longest_wait(const Delay& delay) const {
    const MatchRecord own = matching_.records_of(matching_.matches[delay.match])[delay.late_record];
    const Nanoseconds since = left_at(job_, matching_, delay, own.rank);
    std::optional<std::uint32_t> found;
    std::int64_t longest = 0;
    for (std::uint32_t index = own.communication; index-- > 0;) {
      if (activity_of(job_, {own.rank, index}).begin < since) break;
      const std::uint32_t match = match_of_[own.rank][index];
      if (match == kNone || !waits_[match].last_arriver) continue;
      const MatchRecord record{own.rank, index};
      const MatchRecord last = matching_.records_of(matching_.matches[match])[*waits_[match].last_arriver];
      const std::int64_t wait = wait_of(job_, job_waits_, record);
      if (last.rank == own.rank || wait <= longest) continue;
      longest = wait;
      found = match;
    }
    return found;
  }

  const Job& job_;
  const Matching& matching_;
  const std::vector<MatchWaits>& waits_;
  const JobWaits& job_waits_;
  const std::vector<std::vector<CommunicationProfile>>& profiles_;
  const std::vector<Nanoseconds>& begins_;
  std::vector<std::vector<std::uint32_t>> match_of_;  // [rank][communication], of operations seen so far
  std::map<Series, std::map<std::uint32_t, std::uint32_t>> left_;
};

}  // namespace

Delays find_delays(const Job& job, const Matching& matching, const std::vector<MatchWaits>& waits,
                   const JobWaits& job_waits, const std::vector<std::vector<CommunicationProfile>>& profiles,
                   const std::vector<Nanoseconds>& begins, const std::stop_token& stop) {
  return Finder(job, matching, waits, job_waits, profiles, begins).run(stop);
}

const Delay& root_of(const Delays& delays, const Delay& delay) {
  const Delay* at = &delay;
  // Operations on a chain are ever earlier, so that it ends.
  while (at->waited_in && delays.of_match[*at->waited_in] != kNone)
    at = &delays.delays[delays.of_match[*at->waited_in]];
  return *at;
}

Nanoseconds left_at(const Job& job, const Matching& matching, const Delay& delay, std::uint32_t rank) {
  if (delay.since_match == kNone) return kUnknownTime;
  const std::optional<MatchRecord> record = record_of(matching, delay.since_match, rank);
  return record ? activity_of(job, *record).end : kUnknownTime;
}

}  // namespace lockstep::analyzer

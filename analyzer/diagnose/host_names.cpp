#include "analyzer/diagnose/host_names.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/diagnose/delay_groups.h"
#include "analyzer/diagnose/diagnosis.h"
#include "analyzer/intervals/median.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

using TimeByName = std::map<std::uint32_t, std::int64_t>;

bool names_an_activity(const HostRange& range) {
  return range.kind != HostKind::step && range.kind != HostKind::python_place &&
         range.end - range.begin >= kLongHostRange;
}

// Of ranges that begin in order; those that hold another are on `open`, outermost first.
class InnermostRanges {
 public:
  explicit InnermostRanges(std::vector<HostSpan>& spans) : spans_(spans) {}

  void add(const HostRange& range) {
    while (!open_.empty() && open_.back()->end <= range.begin) close();
    if (!open_.empty()) append(range.begin);
    since_ = range.begin;
    open_.push_back(&range);
  }
  void finish() {
    while (!open_.empty()) close();
  }

 private:
  void close() {
    append(open_.back()->end);
    open_.pop_back();
  }
  // What is innermost until then. A start/end range may outlast the one that it began in.
  void append(Nanoseconds until) {
    if (until <= since_) return;
    spans_.push_back({since_, until, open_.back()->name});
    since_ = until;
  }

  std::vector<HostSpan>& spans_;
  std::vector<const HostRange*> open_;
  Nanoseconds since_ = 0;
};

void add_times(const HostSpans& threads, Nanoseconds begin, Nanoseconds end, TimeByName& times) {
  for (const std::vector<HostSpan>& spans : threads) {
    auto span = std::partition_point(spans.begin(), spans.end(),
                                     [begin](const HostSpan& each) { return each.end <= begin; });
    for (; span != spans.end() && span->begin < end; ++span)
      times[span->name] += std::min(end, span->end) - std::max(begin, span->begin);
  }
}

struct Beside {
  std::int64_t own_ns = 0, others_ns = 0;  // the late rank's, and the median of the others
};

void add_times_beside(const Diagnosis& diagnosis, const DelayGroup& group,
                      std::map<std::uint32_t, Beside>& by_name) {
  const auto [late, others] =
      group.late_and_others<TimeByName>([&](std::uint32_t rank, const TimeSpan& span, TimeByName& times) {
        add_times(diagnosis.host_spans[rank], span.begin, span.end, times);
      });
  for (const auto& [name, own_ns] : late) {
    std::vector<std::int64_t> others_ns;
    for (const TimeByName& times : others) {
      const auto found = times.find(name);
      others_ns.push_back(found == times.end() ? 0 : found->second);
    }
    Beside& beside = by_name[name];
    beside.own_ns += own_ns;
    beside.others_ns += lower_median(std::move(others_ns));
  }
}

}  // namespace

HostSpans innermost_host_ranges(const RankTrace& rank) {
  HostSpans threads;
  for (auto range = rank.host_ranges.begin(); range != rank.host_ranges.end();) {
    const std::uint32_t lane = range->lane;
    std::vector<HostSpan> spans;
    InnermostRanges innermost(spans);
    for (; range != rank.host_ranges.end() && range->lane == lane; ++range)
      if (names_an_activity(*range)) innermost.add(*range);
    innermost.finish();
    if (!spans.empty()) threads.push_back(std::move(spans));
  }
  return threads;
}

std::optional<SlowHostRange> slowest_host_range(const Diagnosis& diagnosis,
                                                std::span<const Delay* const> delays) {
  std::map<std::uint32_t, Beside> by_name;
  std::size_t compared = 0;
  for (const DelayGroup& group : delay_groups(diagnosis, delays)) {
    add_times_beside(diagnosis, group, by_name);
    compared += group.delays();
  }
  std::int64_t excess = 0;
  for (const Delay* delay : delays) excess = saturating_add(excess, delay->excess_ns);
  if (compared == 0 || excess <= 0) return std::nullopt;
  SlowHostRange worst;
  for (const auto& [name, beside] : by_name)
    if (beside.own_ns - beside.others_ns > worst.own_ns - worst.others_ns)
      worst = {name, beside.own_ns, beside.others_ns};
  if (worst.own_ns <= worst.others_ns) return std::nullopt;
  worst.share = static_cast<double>(worst.own_ns - worst.others_ns) / static_cast<double>(excess);
  const auto count = static_cast<std::int64_t>(compared);
  worst.own_ns /= count;
  worst.others_ns /= count;
  return worst;
}

}  // namespace lockstep::analyzer

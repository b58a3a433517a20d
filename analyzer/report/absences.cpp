#include "analyzer/report/absences.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/report/measure_words.h"

namespace lockstep::analyzer {
namespace {

std::string of(std::size_t absent, std::size_t all, const char* noun) {
  if (all == 1) return fmt::format("the only {}", noun);
  if (absent == all) return fmt::format("all {} {}s", all, noun);
  return fmt::format("{} of {} {}s", absent, all, noun);
}

template <class Items, class IsAbsent>
void explain(std::vector<Warning>& warnings, const Items& items, const char* noun, const char* code,
             const char* text, const IsAbsent& is_absent) {
  const auto absent = static_cast<std::size_t>(std::count_if(items.begin(), items.end(), is_absent));
  if (absent == 0) return;
  warnings.push_back({code, fmt::format("{}: {}", of(absent, items.size(), noun), text), kNoRank});
}

// Why nothing that a rank did was matched with another one.
enum class Unmatched : std::uint8_t { nobody, group, rejected };

void explain_waits(const Report& report, std::vector<Warning>& warnings) {
  std::map<std::int32_t, Unmatched> why;
  for (const RankReport& rank : report.ranks)
    if (!rank.measures.waits_known) why.emplace(rank.rank, Unmatched::nobody);
  if (why.empty()) return;
  for (const CollectiveReport& collective : report.collectives) {
    const Unmatched of_this = collective.evidence == "rejected" ? Unmatched::rejected
                              : collective.evidence == "none"   ? Unmatched::group
                                                                : Unmatched::nobody;
    for (const CollectiveRank& rank : collective.ranks) {
      if (const auto found = why.find(rank.rank); found != why.end())
        found->second = std::max(found->second, of_this);
    }
  }
  const auto explain_those = [&](Unmatched reason, const char* text) {
    explain(warnings, report.ranks, "rank", "absent_waits", text, [&](const RankReport& rank) {
      const auto found = why.find(rank.rank);
      return found != why.end() && found->second == reason;
    });
  };
  explain_those(Unmatched::nobody,
                "no waiting times, no rank that it communicates with left a record of the same operation");
  explain_those(Unmatched::rejected,
                "no waiting times, the times or sizes of its operations rule out that they are those of the "
                "others by the same number or order");
  explain_those(Unmatched::group, "no waiting times, the groups of its operations are not known");
}

}  // namespace

std::vector<Warning> explain_absences(const Report& report) {
  std::vector<Warning> warnings;
  if (!report.origin_ns) {
    warnings.push_back(
        {"absent_origin", "no time of day: the input does not relate its clock to the calendar", kNoRank});
  }
  const auto lost = [](const auto& row) { return !row.measures.known; };
  explain(warnings, report.ranks, "rank", "absent_measures",
          "no figures, there is no device activity, or a part of the file that held some is damaged", lost);
  explain(warnings, report.steps, "rank and step pair", "absent_step_measures",
          "no figures, there is no device activity, or a part of the file that held some is damaged", lost);
  explain_waits(report, warnings);
  const auto no_overlap = [](const auto& row) {
    return row.measures.known && (!row.measures.overlap_ratio || !row.measures.overlap_ratio_per_kernel);
  };
  explain(warnings, report.ranks, "rank", "absent_overlap_ratio",
          "no overlap ratio, there is no communication in the window, or nothing is known of compute",
          no_overlap);
  explain(warnings, report.steps, "rank and step pair", "absent_step_overlap_ratio",
          "no overlap ratio, there is no communication in the window, or nothing is known of compute",
          no_overlap);
  explain(warnings, report.ranks, "rank", "absent_overlap_price",
          "no price of overlap, too few computations that ran under communication are known to have run "
          "alone as well",
          [](const auto& row) { return row.measures.known && !row.overlap_price; });
  explain(warnings, report.collectives, "collective", "absent_bytes",
          "size not recorded; there is no bandwidth without it", [](const auto& c) { return !c.bytes; });
  explain(warnings, report.collectives, "collective", "absent_bandwidth",
          "size known but no bandwidth: the operation, its group's size or its duration does not allow one",
          [](const auto& c) { return c.bytes && (!c.algbw_gbps || !c.busbw_gbps); });
  explain(warnings, report.collectives, "collective", "absent_wire_bandwidth",
          "no bandwidth of the wire, a rank without a record may have come last",
          [](const auto& c) { return c.busbw_gbps && !c.busbw_wire_gbps; });
  explain(warnings, report.collectives, "collective", "absent_last_arriver",
          "no last arriver named, the ranks arrived within clock error or nobody waited",
          [](const auto& c) { return !c.last_arriver && c.waits_known(); });
  explain(warnings, report.collectives, "collective", "absent_partners",
          "neither waiting times nor a last arriver, only one rank has a record of it",
          [](const auto& c) { return !c.waits_known(); });
  explain(warnings, report.collectives, "collective", "absent_sequence", "no sequence number recorded",
          [](const auto& c) { return !c.sequence; });
  explain(warnings, report.collectives, "collective", "absent_step",
          "launched in no step, and begun in no step window", [](const auto& c) { return !c.step; });
  for (const PipelineReport& pipeline : report.pipeline) {
    if (pipeline.bubble_ratio && pipeline.bubble_ratio_ideal) continue;
    const std::string reason = reason_text(pipeline.reason);
    warnings.push_back({"absent_bubble_ratio",
                        fmt::format("pipeline \"{}\": no {}bubble ratio: {}", pipeline.group,
                                    pipeline.bubble_ratio ? "ideal " : "",
                                    reason.empty() ? "its stages or microbatches are not known" : reason),
                        kNoRank});
  }
  explain(warnings, report.blame, "blamed rank", "absent_persistence",
          "too few steps, records or cores, to tell persistent from transient",
          [](const auto& b) { return !b.persistent; });
  const EfficiencyReport& efficiency = report.efficiency;
  if (!efficiency.load_balance || !efficiency.communication || !efficiency.parallel) {
    warnings.push_back({"absent_efficiency",
                        all_known(report) ? "no POP efficiency: it needs several ranks, and compute"
                                          : "no POP efficiency: not every rank's compute is known",
                        kNoRank});
  }
  return warnings;
}

}  // namespace lockstep::analyzer

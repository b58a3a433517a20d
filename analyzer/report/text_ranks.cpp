#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "analyzer/report/quantity.h"
#include "analyzer/report/report_sections.h"
#include "analyzer/report/text_sections.h"
#include "analyzer/report/unicode.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kMaxRanks = 16;        // shown unless asked for more
constexpr std::size_t kCondensedRanks = 10;  // shown of more than that

using Rows = std::map<std::size_t, std::string>;  // index into report.ranks -> why it is shown

void mark(Rows& rows, std::size_t index, const char* why) {
  std::string& note = rows[index];
  note += (note.empty() ? "" : ", ") + std::string(why);
}

// Indices of ranks, greatest value first, lower rank first at a tie.
template <class Value>
std::vector<std::size_t> by(const Report& report, const Value& value) {
  std::vector<std::size_t> order(report.ranks.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return value(report.ranks[a]) > value(report.ranks[b]);
  });
  return order;
}

// Which ranks are shown, and what is remarkable about them. All of them if there is room; else the extremes
// and the median first, then those that are waited for, then those that wait most.
Rows choose(const Report& report, std::size_t room) {
  Rows rows;
  const auto window = by(report, [](const RankReport& r) { return r.measures.window_ns; });
  const auto waits = by(report, [](const RankReport& r) { return wait_of(r.measures); });
  const auto blamed = by(report, [&](const RankReport& r) { return lateness_of(report, r.rank); });
  const bool all = room >= report.ranks.size();
  if (all) {
    for (std::size_t i = 0; i < report.ranks.size(); ++i) rows[i];
  }
  if (report.ranks.size() < 2) return rows;
  if (all) return rows;
  if (lateness_of(report, report.ranks[blamed.front()].rank) > 0)
    mark(rows, blamed.front(), "most waited for");

  const auto add = [&](std::size_t index, const char* why) {
    if (rows.size() < room || rows.contains(index)) mark(rows, index, why);
  };
  if (wait_of(report.ranks[waits.front()].measures) > 0) add(waits.front(), "waits most");
  add(window.front(), "longest");
  add(window.back(), "shortest");
  add(window[window.size() / 2], "median");
  for (std::size_t i = 0; i < blamed.size() && rows.size() < room / 2; ++i) {
    if (lateness_of(report, report.ranks[blamed[i]].rank) > 0) rows[blamed[i]];
  }
  for (std::size_t i = 0; i < waits.size() && rows.size() < room; ++i) rows[waits[i]];
  return rows;
}

// The POP model's ratios, where all of them are known; else "".
std::string pop_line(const Report& report) {
  const EfficiencyReport& efficiency = report.efficiency;
  // Without communication there is nothing that POP's communication efficiency could be of.
  const bool communicates = std::any_of(report.ranks.begin(), report.ranks.end(), [](const RankReport& rank) {
    return rank.measures.communication_ns > 0;
  });
  if (!communicates || !efficiency.load_balance || !efficiency.communication || !efficiency.parallel)
    return "";
  return fmt::format("parallel efficiency {} = load balance {} × communication {} (POP)",
                     format_share(efficiency.parallel), format_share(efficiency.load_balance),
                     format_share(efficiency.communication));
}

// Where some ranks' is known; else "".
std::string overlap_price_line(const Report& report) {
  OverlapPrice all;
  const RankReport* dearest = nullptr;
  std::size_t known = 0;
  for (const RankReport& rank : report.ranks) {
    if (!rank.overlap_price) continue;
    ++known;
    all.activities += rank.overlap_price->activities;
    all.under_ns += rank.overlap_price->under_ns;
    all.alone_ns += rank.overlap_price->alone_ns;
    if (dearest == nullptr || rank.overlap_price->inflation() > dearest->overlap_price->inflation())
      dearest = &rank;
  }
  if (known == 0) return "";
  // Shorter than alone is noise: communication speeds nothing up.
  std::string text =
      all.price_ns() <= 0
          ? std::string(
                "overlap's price: none to be seen; compute under communication takes no longer than alone")
          : fmt::format(
                "overlap's price: compute under communication takes {:.2f} times as long as alone: {}",
                all.inflation(), format_duration(all.price_ns()));
  text += fmt::format(" ({}", format_plural(all.activities, "computation"));
  if (known > 1 && all.price_ns() > 0)
    text += fmt::format("; most on rank {}: {:.2f}", dearest->rank, dearest->overlap_price->inflation());
  return text + ")";
}

// How long training threads waited for a core, where the recorder looked; else "".
std::string core_line(const Report& report) {
  const CoreWaits waits = core_waits_of(report);
  if (waits.ranks == 0) return "";
  std::string text =
      fmt::format("waiting for a core: {} of the time", format_share(waits.waited_ns, waits.window_ns));
  if (waits.ranks < report.ranks.size())
    text += fmt::format(" of {} of {} ranks", waits.ranks, report.ranks.size());
  if (waits.ranks > 1 && waits.waited_ns > 0)
    text += fmt::format(", most on rank {}: {}", waits.worst->rank,
                        format_share(*waits.worst->measures.run_queue_ns, waits.worst->measures.window_ns));
  if (waits.asleep_ns > 0)
    text += fmt::format("; asleep or blocked within computation: {}",
                        format_share(waits.asleep_ns, waits.window_ns));
  return text;
}

// Who is ready later than the others, in the mean of the steps: a figure, and no judgement. "" where nobody
// is by a thousandth of a step.
std::string lateness_line(const Report& report) {
  constexpr std::size_t kMost = 3;
  constexpr std::int64_t kWorth = 1000;
  const LatenessReport& lateness = report.lateness;
  if (!lateness.can_tell || lateness.step_ns <= 0) return "";
  std::vector<const RankLateness*> later;
  for (const RankLateness& rank : lateness.ranks)
    if (rank.mean_ns >= lateness.step_ns / kWorth && rank.mean_ns > 0) later.push_back(&rank);
  if (later.empty()) return "";
  std::stable_sort(later.begin(), later.end(),
                   [](const RankLateness* a, const RankLateness* b) { return a->mean_ns > b->mean_ns; });
  std::vector<std::string> parts;
  for (const RankLateness* rank : later) {
    if (parts.size() == kMost) break;
    parts.push_back(fmt::format("rank {} by {} ({})", rank->rank, format_duration(rank->mean_ns),
                                format_share(rank->mean_ns, lateness.step_ns)));
  }
  const std::size_t more = later.size() - parts.size();
  return fmt::format(
      "ready later than the median of the others, mean of {} steps: {}{}", lateness.steps,
      fmt::join(parts, ", "),
      more > 0 ? fmt::format(" and {}", format_plural(static_cast<std::int64_t>(more), "more rank")) : "");
}

// How long the others waited for a rank. Of a pipeline the whole, and behind it what its schedule makes: that
// is nobody's lateness, and left out of one rank's figure it would make the other's look like it.
Line waited_for_cell(std::int64_t lateness, std::int64_t by_schedule, bool marked, bool scheduled) {
  constexpr std::size_t kWidest = 10;  // " (99.9 ms)"
  const std::int64_t whole = saturating_add(lateness, by_schedule);
  Line line = marked ? Line{}.bold(format_duration(whole)) : duration_cell(whole);
  if (!scheduled) return line;
  const Line part = Line{}.dim(fmt::format("({})", format_duration(by_schedule)));
  line.text(std::string(std::max(kWidest, part.width() + 1) - part.width(), ' '));
  return line.add(part);
}

// Bars are at most 64 columns long, and half a column is rounded up.
bool is_drawn(const Measures& measures, Cause cause) {
  constexpr double kLeastShare = 1.0 / 128;
  return measures.known && measures.partition[cause] > 0 &&
         static_cast<double>(measures.partition[cause]) >=
             kLeastShare * static_cast<double>(measures.window_ns);
}

}  // namespace

std::vector<std::string> efficiency_lines(const Report& report) {
  std::vector<std::string> lines{pop_line(report), overlap_price_line(report), core_line(report),
                                 lateness_line(report)};
  std::erase(lines, "");
  return lines;
}

void print_legend(const Report& report, Page& page) {
  Line legend;
  for (const CauseStyle& style : kCauseStyles) {
    // What is too little to be drawn needs no explanation.
    const auto drawn = [&](const auto& row) { return is_drawn(row.measures, style.cause); };
    if (std::none_of(report.ranks.begin(), report.ranks.end(), drawn) &&
        std::none_of(report.steps.begin(), report.steps.end(), drawn))
      continue;
    const std::string glyph = page.options().ascii ? std::string(1, style.ascii) : style.glyph;
    const Line entry = Line{}.swatch(glyph, style.cause).text(" ").text(style.label);
    if (legend.width() + 3 + entry.width() > page.options().width) {
      page.add(legend);
      legend = {};
    }
    legend.text(legend.spans().empty() ? "  " : "   ").add(entry);
  }
  page.add(legend);
}

namespace {

void print_ranks(const Report& report, const TextOptions& options, Page& page) {
  const Totals totals = totals_of(report);
  if (totals.window_ns == 0) return;
  const std::size_t room =
      options.ranks.value_or(report.ranks.size() <= kMaxRanks ? kMaxRanks : kCondensedRanks);
  const bool ascii = page.options().ascii;

  print_heading(page, sections::ranks.title, "each bar is the rank's window by cause");
  print_legend(report, page);

  std::int64_t longest = 0;
  for (const RankReport& rank : report.ranks)
    if (rank.measures.known) longest = std::max(longest, rank.measures.window_ns);
  const Rows rows = choose(report, std::max<std::size_t>(1, room));
  const bool several_hosts = std::any_of(report.ranks.begin(), report.ranks.end(), [&](const RankReport& r) {
    return r.host != report.ranks.front().host;
  });
  const bool notes =
      std::any_of(rows.begin(), rows.end(), [](const auto& row) { return !row.second.empty(); });

  const bool scheduled = has_scheduled_waits(report);

  Table table({{"rank", true, 0},
               {"window", true, 0},
               {"", false, 0},
               {"hidden", true, 4},
               {"exposed", true, 3},
               {"waits", true, 0},
               {"(exposed)", true, 6},
               {scheduled ? "waited for (by schedule)" : "waited for", true, 1},
               {"", false, notes ? 2 : 0},
               {several_hosts ? "host" : "", false, several_hosts ? 5 : 9}});
  table.set_elastic(2, page.options().width / 4, 64);
  for (const auto& [index, note] : rows) {
    const RankReport& rank = report.ranks[index];
    const Measures& m = rank.measures;
    const std::int64_t blame = lateness_of(report, rank.rank);
    const std::int64_t by_schedule = scheduled_of(report, rank.rank);
    Line name, remark;
    const bool marked = is_marked(report, rank.rank);
    Line waited_for = waited_for_cell(blame, by_schedule, marked, scheduled);
    marked ? name.bold(fmt::format("{}", rank.rank)) : name.text(fmt::format("{}", rank.rank));
    if (!note.empty()) {
      remark.dim(note);
    } else if (marked) {
      remark.bold(ascii ? "<" : "←");
    }

    const Line absent = Line{}.dim(kAbsent);
    const bool waits = m.known && m.waits_known;
    if (!totals.waits_known || (blame + by_schedule == 0 && !m.known)) waited_for = absent;
    table.add_row({name,
                   m.known ? duration_cell(m.window_ns) : absent,
                   {},
                   m.known && m.communication_ns > 0 ? Line{}.text(format_share(m.overlap_ratio)) : absent,
                   m.known ? duration_cell(m.exposed_communication_ns) : absent,
                   waits ? duration_cell(wait_of(m)) : absent,
                   waits ? Line{}.dim(fmt::format("({})", format_duration(exposed_wait_of(m)))) : Line{},
                   waited_for,
                   remark,
                   several_hosts ? Line{}.dim(fit(printable(rank.host), 16, ascii)) : Line{}},
                  [&m, longest, ascii,
                   why_unknown = rank.damaged ? "not known: the trace is damaged"
                                              : "no device activity"](std::size_t columns) {
                    if (!m.known) return Line{}.dim(fit(why_unknown, columns, ascii));
                    return stacked_bar(m.partition, longest, columns, ascii);
                  });
  }
  table.print(page, 2);
  print_more(page, report.ranks.size() - rows.size(), "--rows");
  for (const std::string& line : efficiency_lines(report)) page.wrap(Line{}.dim(line), 2, 2);
}

constexpr auto kTextRanksMembers =
    std::to_array<std::string_view>({"ranks", "blame", "lateness", "efficiency"});

}  // namespace

constinit const ReportSection sections::ranks{
    .id = "ranks",
    .title = "ranks",
    .on_page = "rank-section",
    .json = kTextRanksMembers,
    .print = print_ranks,
};

}  // namespace lockstep::analyzer

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "analyzer/report/quantity.h"
#include "analyzer/report/report_sections.h"
#include "analyzer/report/text_sections.h"
#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

// One step over all its ranks.
struct StepRow {
  std::int64_t step = 0;
  std::int64_t duration_ns = 0;  // the longest window of a rank
  std::int32_t longest_rank = 0;
  std::int64_t window_ns = 0;  // sum over ranks
  std::int64_t wait_ns = 0;    // exposed: what compute hides is not lost
  std::int64_t exposed_ns = 0;
  bool waits_known = false;  // of any rank
  Partition partition;       // sum over ranks
};

std::vector<StepRow> rows_of(const Report& report) {
  std::vector<StepRow> rows;
  for (const StepReport& step : report.steps) {
    if (!step.measures.known) continue;
    if (rows.empty() || rows.back().step != step.step) rows.emplace_back();
    StepRow& row = rows.back();
    row.step = step.step;
    const Measures& m = step.measures;
    if (m.window_ns > row.duration_ns) {
      row.duration_ns = m.window_ns;
      row.longest_rank = step.rank;
    }
    row.waits_known = row.waits_known || m.waits_known;
    row.window_ns += m.window_ns;
    row.wait_ns += m.collective_wait_ns + m.p2p_wait_ns;
    row.exposed_ns += m.exposed_communication_ns;
    for (std::size_t i = 0; i < kCauseCount; ++i) row.partition.ns[i] += m.partition.ns[i];
  }
  return rows;
}

// All steps as one line of small columns: shows drift and outliers that a table of a few steps hides.
Line profile(const std::vector<StepRow>& rows, std::size_t columns, bool ascii) {
  static constexpr std::array<const char*, 8> kLevels{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::int64_t longest = 1;
  for (const StepRow& row : rows) longest = std::max(longest, row.duration_ns);
  columns = std::min(columns, rows.size());
  std::string text;
  for (std::size_t c = 0; c < columns; ++c) {
    std::int64_t highest = 0;
    for (std::size_t i = c * rows.size() / columns; i < (c + 1) * rows.size() / columns; ++i) {
      highest = std::max(highest, rows[i].duration_ns);
    }
    const double share = static_cast<double>(highest) / static_cast<double>(longest);
    const auto level = static_cast<std::size_t>(share * 7.999);
    if (ascii) {
      text += static_cast<char>('1' + level);
    } else {
      text += kLevels[level];
    }
  }
  return Line{}.text(text);
}

void print_steps(const Report& report, const TextOptions& options, Page& page) {
  const std::vector<StepRow> rows = rows_of(report);
  if (rows.empty()) return;
  std::vector<std::size_t> order(rows.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rows[a].duration_ns > rows[b].duration_ns; });
  // The last window ends with its last activity, the others where the next one begins: it is no fastest step.
  std::size_t fastest = order.back();
  if (fastest + 1 == rows.size() && order.size() > 2) fastest = order[order.size() - 2];
  // (index, what it is): slowest and median first; the rest follow in order of time where there is room for
  // all.
  std::vector<std::pair<std::size_t, const char*>> shown;
  const bool all = rows.size() <= options.steps;
  if (all) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool several = rows.size() > 1;
      shown.emplace_back(i, several && i == order.front() ? "slowest"
                            : several && i == fastest     ? "fastest"
                                                          : "");
    }
  } else {
    for (std::size_t i = 0; i + 3 < options.steps; ++i) shown.emplace_back(order[i], i == 0 ? "slowest" : "");
    shown.emplace_back(order[order.size() / 2], "median");
    shown.emplace_back(fastest, "fastest");
  }

  const std::int64_t longest = rows[order.front()].duration_ns;
  print_heading(page, sections::steps.title,
                rows.size() > 1 ? fmt::format("{}; a step lasts as long as its slowest rank",
                                              format_plural(static_cast<std::int64_t>(rows.size()), "step"))
                                : "");
  Table table({{"step", true, 0},
               {"time", true, 0},
               {"", false, 0},
               {"compute", true, 2},
               {"waiting", true, 1},
               {"longest on", false, 3},
               {"", false, 0}});
  table.set_elastic(2, page.options().width / 4, 64);
  for (const auto& [index, note] : shown) {
    const StepRow& row = rows[index];
    // The average rank: the bar's length is its window, so it may be shorter than the step.
    table.add_row({Line{}.text(fmt::format("{}", row.step)),
                   duration_cell(row.duration_ns),
                   {},
                   share_cell(row.partition[Cause::compute], row.window_ns),
                   row.waits_known ? share_cell(row.wait_ns, row.window_ns) : Line{}.dim(kAbsent),
                   Line{}.text(fmt::format("rank {}", row.longest_rank)),
                   Line{}.dim(note)},
                  [&row, longest, ascii = page.options().ascii](std::size_t columns) {
                    // The partition's sum over ranks, brought to the length of one step.
                    const double ranks = row.duration_ns == 0 ? 1
                                                              : static_cast<double>(row.window_ns) /
                                                                    static_cast<double>(row.duration_ns);
                    return stacked_bar(row.partition,
                                       static_cast<std::int64_t>(ranks * static_cast<double>(longest)),
                                       columns, ascii);
                  });
  }
  table.print(page, 2);
  if (!all) {
    const std::string scale = fmt::format("  0 to {}", format_duration(longest));
    const std::size_t beside = 14 + display_width(scale);
    const std::size_t columns = page.options().width > beside ? page.options().width - beside : 1;
    page.add(
        Line{}.text("  ").dim("every step  ").add(profile(rows, columns, page.options().ascii)).dim(scale));
    page.add(Line{}.text("  ").dim(
        fmt::format("… {} more: --steps A:B, or --json FILE",
                    format_count(static_cast<std::int64_t>(rows.size() - shown.size())))));
  }
}

constexpr auto kTextStepsMembers = std::to_array<std::string_view>({"steps"});

}  // namespace

constinit const ReportSection sections::steps{
    .id = "steps",
    .title = "steps",
    .on_page = "steps",
    .json = kTextStepsMembers,
    .print = print_steps,
};

}  // namespace lockstep::analyzer

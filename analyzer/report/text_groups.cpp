// The table of process groups.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "analyzer/report/quantity.h"
#include "analyzer/report/report_sections.h"
#include "analyzer/report/text_sections.h"
#include "analyzer/report/unicode.h"
#include "base/number_lists.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kMaxGroups = 8;

// "0–3", "0, 4"; "8 ranks" where that would be long.
std::string ranks_text(const std::vector<std::int32_t>& ranks, bool ascii) {
  const std::string text = number_ranges(ranks, ascii ? "-" : "–");
  return display_width(text) <= 12 ? text : format_plural(static_cast<std::int64_t>(ranks.size()), "rank");
}

Line bytes_cell(std::optional<double> bytes) {
  return bytes ? Line{}.text(format_bytes(std::llround(*bytes))) : Line{}.dim(kAbsent);
}

void print_groups(const Report& report, const TextOptions& /*options*/, Page& page) {
  if (report.groups.size() < 2) return;
  const bool ascii = page.options().ascii;
  const bool sizes = std::any_of(report.groups.begin(), report.groups.end(), [](const GroupReport& group) {
    return std::any_of(group.operations.begin(), group.operations.end(),
                       [](const GroupOperation& o) { return o.bytes_per_step_and_rank.has_value(); });
  });
  print_heading(page, sections::groups.title,
                sizes ? "times are sums over ranks; sent is what a ring sends, per step and rank"
                      : "times are sums over ranks");
  std::vector<Column> columns{{"group", false, 0}, {"ranks", false, 4}, {"operation", false, 0},
                              {"count", true, 5},  {"waited", true, 0}, {"transfer", true, 0},
                              {"exposed", true, 3}};
  if (sizes) columns.push_back({"sent", true, 2});
  columns.push_back({"wire busbw", true, 1});
  Table table(columns);
  const std::size_t shown = std::min(report.groups.size(), kMaxGroups);
  for (std::size_t i = 0; i < shown; ++i) {
    const GroupReport& group = report.groups[i];
    bool first = true;
    for (const GroupOperation& o : group.operations) {
      std::vector<Line> cells{
          first
              ? Line{}.text(group.name.empty() ? std::string("(no name)")
                                               : fmt::format("\"{}\"", fit(printable(group.name), 20, ascii)))
              : Line{},
          first ? Line{}.dim(ranks_text(group.ranks, ascii)) : Line{},
          Line{}.text(trace::to_string(o.operation)),
          Line{}.text(format_count(o.count)),
          duration_cell(o.wait_ns),
          duration_cell(o.transfer_ns),
          duration_cell(o.exposed_ns)};
      if (sizes) cells.push_back(bytes_cell(o.wire_bytes_per_step_and_rank));
      cells.push_back(o.busbw_wire_gbps ? Line{}.text(format_bandwidth(o.busbw_wire_gbps))
                                        : Line{}.dim(kAbsent));
      table.add_row(std::move(cells));
      first = false;
    }
  }
  table.print(page, 2);
  if (report.groups.size() > shown)
    page.add(Line{}.text("  ").dim(fmt::format("… {} more: --json FILE", report.groups.size() - shown)));
}

constexpr auto kTextGroupsMembers = std::to_array<std::string_view>({"groups"});

}  // namespace

constinit const ReportSection sections::groups{
    .id = "groups",
    .title = "groups",
    .on_page = "groups",
    .json = kTextGroupsMembers,
    .print = print_groups,
};

}  // namespace lockstep::analyzer

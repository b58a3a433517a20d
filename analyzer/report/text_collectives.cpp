#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "analyzer/report/quantity.h"
#include "analyzer/report/report_sections.h"
#include "analyzer/report/text_sections.h"
#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

Line group_cell(const CollectiveReport& c, const Report& report, bool ascii) {
  const std::size_t ranks = c.group_ranks.empty() ? c.ranks.size() : c.group_ranks.size();
  const bool everyone = !c.group_ranks.empty() && static_cast<std::int32_t>(ranks) == report.world_size;
  Line cell;
  // Quoted, because names are often numbers.
  if (!c.group_name.empty()) cell.text(fmt::format("\"{}\" ", fit(printable(c.group_name), 14, ascii)));
  if (c.partial) {
    const std::optional<std::size_t> all = c.participants();
    return cell.dim(all ? fmt::format("{} of {} ranks", c.ranks.size(), *all)
                        : fmt::format("{} of more ranks", c.ranks.size()));
  }
  return cell.dim(everyone ? fmt::format("all {}", ranks) : fmt::format("{} ranks", ranks));
}

Line last_arriver_cell(const CollectiveReport& c) {
  if (c.last_arriver) {
    return Line{}
        .bold(fmt::format("rank {}", *c.last_arriver))
        .text(fmt::format(" by {}", format_duration(c.last_arriver_margin_ns.value_or(0))));
  }
  if (c.unfinished) return Line{}.dim("not all came");
  return Line{}.dim(!c.waits_known()     ? kAbsent
                    : c.ranks.size() < 2 ? "alone"
                    : c.wait_ns == 0     ? "nobody waited"
                                         : "within clock error");
}

}  // namespace

std::optional<std::int64_t> spread_of(const CollectiveReport& c) {
  if (c.ranks.size() < 2) return std::nullopt;
  const auto [first, last] = std::minmax_element(
      c.ranks.begin(), c.ranks.end(),
      [](const CollectiveRank& a, const CollectiveRank& b) { return a.arrival_ns < b.arrival_ns; });
  return last->arrival_ns - first->arrival_ns;
}

std::int64_t longest_transfer(const CollectiveReport& c) {
  std::int64_t transfer = 0;
  for (const CollectiveRank& rank : c.ranks) transfer = std::max(transfer, rank.transfer_ns);
  return transfer;
}

std::vector<std::size_t> collectives_by_cost(const Report& report) {
  std::vector<std::size_t> order(report.collectives.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t first, std::size_t second) {
    const CollectiveReport &a = report.collectives[first], &b = report.collectives[second];
    if (a.waits_known() != b.waits_known()) return a.waits_known();
    return a.waits_known() ? a.wait_ns > b.wait_ns : longest_transfer(a) > longest_transfer(b);
  });
  return order;
}

namespace {

void print_collectives(const Report& report, const TextOptions& options, Page& page) {
  if (report.collectives.empty()) return;
  std::vector<const CollectiveReport*> order;
  for (const std::size_t index : collectives_by_cost(report)) order.push_back(&report.collectives[index]);
  const std::size_t shown = std::min(order.size(), options.collectives);
  if (shown == 0) return;

  const bool waits = std::any_of(order.begin(), order.end(), [](const auto* c) { return c->waits_known(); });
  print_heading(page, sections::collectives.title,
                fmt::format("{}, {}", format_count(static_cast<std::int64_t>(order.size())),
                            waits ? "the most waited in first; waited is the sum over ranks"
                                  : "the longest first; who waited is not known"));
  const bool ascii = page.options().ascii;
  const bool steps = report.steps_present.size() > 1;
  const bool sizes = std::any_of(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown),
                                 [](const auto* c) { return c->bytes.has_value(); });
  // The same for all of them, and everyone is in it: nothing to see.
  const bool groups = std::any_of(order.begin(), order.end(), [&](const auto* c) {
    return c->partial || c->group_name != order.front()->group_name ||
           c->group_ranks != order.front()->group_ranks ||
           static_cast<std::int32_t>(c->group_ranks.size()) != report.world_size;
  });
  std::vector<Column> columns{
      {"", true, 0},        {"operation", false, 0},    {groups ? "group" : "", false, 2},
      {"waited", true, 0},  {"last arriver", false, 0}, {"spread", true, 5},
      {"transfer", true, 1}};
  if (sizes) {
    columns.push_back({"size", true, 4});
    columns.push_back({"wire busbw", true, 6});
  }
  if (steps) columns.push_back({"step", true, 3});
  Table table(columns);
  for (std::size_t i = 0; i < shown; ++i) {
    const CollectiveReport& c = *order[i];
    const std::optional<std::int64_t> spread = spread_of(c);
    std::vector<Line> cells{Line{}.dim(fmt::format("#{}", c.id)),
                            Line{}.text(trace::to_string(c.operation)),
                            groups ? group_cell(c, report, ascii) : Line{},
                            c.waits_known() ? duration_cell(c.wait_ns) : Line{}.dim(kAbsent),
                            last_arriver_cell(c),
                            spread ? duration_cell(*spread) : Line{}.dim(kAbsent),
                            duration_cell(longest_transfer(c))};
    if (sizes) {
      cells.push_back(c.bytes ? Line{}.text(format_bytes(*c.bytes)) : Line{}.dim(kAbsent));
      cells.push_back(c.busbw_wire_gbps ? Line{}.text(format_bandwidth(c.busbw_wire_gbps))
                                        : Line{}.dim(kAbsent));
    }
    if (steps) cells.push_back(c.step ? Line{}.text(fmt::format("{}", *c.step)) : Line{}.dim(kAbsent));
    table.add_row(std::move(cells));
  }
  table.print(page, 2);
  print_more(page, order.size() - shown, "--collectives");
}

constexpr auto kTextCollectivesMembers = std::to_array<std::string_view>({"collectives"});

}  // namespace

constinit const ReportSection sections::collectives{
    .id = "collectives",
    .title = "collectives",
    .on_page = "collectives",
    .json = kTextCollectivesMembers,
    .print = print_collectives,
};

}  // namespace lockstep::analyzer

// A scaling study on a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "analyzer/report/quantity.h"
#include "analyzer/report/unicode.h"
#include "analyzer/scaling/scaling_outputs.h"
#include "analyzer/scaling/scaling_words.h"
#include "base/counts.h"

namespace lockstep::analyzer {
namespace {

Line percent(std::optional<double> ratio) {
  return ratio ? Line{}.text(format_percent(*ratio)) : Line{}.dim(kAbsent);
}

// Of the ideal, which is as wide as the column.
Line bar(double efficiency, std::size_t columns, bool ascii) {
  const auto filled =
      static_cast<std::size_t>(std::llround(std::clamp(efficiency, 0.0, 1.0) * static_cast<double>(columns)));
  std::string full, rest;
  for (std::size_t i = 0; i < columns; ++i)
    (i < filled ? full : rest) += ascii ? (i < filled ? "#" : ".") : (i < filled ? "█" : "·");
  return Line{}.cause(full, Cause::compute).dim(rest);
}

void print_points(const Scaling& scaling, Page& page) {
  const std::int32_t base = scaling.points.front().ranks;
  const bool distributed = base == 1 && scaling.points.size() > 2;
  const bool intervals = std::ranges::any_of(
      scaling.points, [](const ScalePoint& point) { return point.efficiency.low.has_value(); });
  std::vector<Column> columns{
      {"ranks", true, 0}, {"runs", true, 6}, {"step", true, 0}, {"ideal", true, 5}, {"efficiency", true, 0}};
  if (intervals) columns.push_back({"95 %", true, 1});
  columns.push_back({"", false, 7});
  if (distributed) columns.push_back({fmt::format("beside {} ranks", scaling.points[1].ranks), true, 4});
  for (const char* title : {"load balance", "communication", "computation"})
    columns.push_back({title, true, 2});
  Table table(columns);
  for (const ScalePoint& point : scaling.points) {
    std::vector<Line> cells{
        Line{}.text(format_count(point.ranks)), Line{}.dim(format_count(point.paths.size())),
        Line{}.text(format_duration(point.step_ns)), Line{}.dim(format_duration(point.ideal_ns)),
        Line{}.bold(format_percent(point.efficiency.value))};
    if (intervals) cells.push_back(Line{}.dim(interval_text(point.efficiency)));
    cells.push_back(bar(point.efficiency.value, 20, page.options().ascii));
    if (distributed)
      cells.push_back(percent(
          point.efficiency_distributed ? std::optional(point.efficiency_distributed->value) : std::nullopt));
    for (const auto& figure : {point.load_balance, point.communication_efficiency, point.computation_scaling})
      cells.push_back(percent(figure));
    table.add_row(std::move(cells));
  }
  table.print(page, 2);
}

void print_losses(const Scaling& scaling, Page& page) {
  page.blank();
  page.wrap(Line{}.bold("lost to").dim(" — a step, beside the ideal after the smallest size"), 0, 2);
  std::vector<Column> columns{{"", false, 0}};
  for (const ScalePoint& point : scaling.points)
    columns.push_back({format_plural(point.ranks, "rank"), true, 0});
  Table table(columns);
  const auto change = [](std::int64_t ns) {
    return ns == 0 ? Line{}.dim("0") : Line{}.text(format_change(ns));
  };
  for (const Cause cause : causes_that_changed(scaling)) {
    std::vector<Line> cells{Line{}.cause(label_of(scaling, cause), cause)};
    for (const ScalePoint& point : scaling.points)
      cells.push_back(change(point.loss_ns[static_cast<std::size_t>(cause)]));
    table.add_row(std::move(cells));
  }
  std::vector<Line> cells{Line{}.bold("all")};
  for (const ScalePoint& point : scaling.points) cells.push_back(change(point.total_loss_ns()));
  table.add_row(std::move(cells));
  table.print(page, 2);
}

}  // namespace

std::string to_text(const Scaling& scaling, const PageOptions& options) {
  Page page(options);
  page.wrap(Line{}.bold(headline(scaling)), 0, 2);
  page.wrap(Line{}.dim(kind_text(scaling)), 0, 2);
  for (const std::string& remark : remarks(scaling)) page.wrap(Line{}.text(printable(remark)), 0, 2);
  page.blank();
  print_points(scaling, page);
  print_losses(scaling, page);
  if (!scaling.messages.empty() || scaling.law) {
    page.blank();
    page.wrap(Line{}.bold("laws").dim(" — fitted to what was measured, and no further"), 0, 2);
  }
  for (const MessageLaw& law : scaling.messages) page.wrap(Line{}.text(message_text(law)), 2, 4);
  if (scaling.law) page.wrap(Line{}.text(speedup_text(scaling)), 2, 4);
  return page.take();
}

}  // namespace lockstep::analyzer

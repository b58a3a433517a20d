// A scaling study as one web page: efficiency over ranks, what a step is made of at each size, the numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "analyzer/report/palette.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/unicode.h"
#include "analyzer/scaling/scaling_outputs.h"
#include "analyzer/scaling/scaling_words.h"
#include "base/counts.h"

namespace lockstep::analyzer {
namespace {

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    if (c == '<')
      safe += "&lt;";
    else if (c == '&')
      safe += "&amp;";
    else if (c == '"')
      safe += "&quot;";
    else
      safe += c;
  }
  return safe;
}

constexpr const char* kStyle = R"(
:root { --back: #fff; --text: #1c2733; --dim: #64717f; --line: #d9dfe6; --mark: #1f5fc4; }
@media (prefers-color-scheme: dark) { :root { --back: #14181d; --text: #e4e9ee; --dim: #94a1ae; --line: #333c46; --mark: #6f9bff; } }
body { background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; max-width: 980px; margin: 2.5em auto; padding: 0 1.5em; }
h1 { font-size: 1.35em; line-height: 1.35; margin: 0 0 .4em } h2 { font-size: 1em; margin: 2em 0 .3em } p { margin: .2em 0; } .dim { color: var(--dim) }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums } td, th { text-align: right; padding: .25em .6em; border-bottom: 1px solid var(--line); font-weight: normal }
th { color: var(--dim) } td:first-child, th:first-child { text-align: left } tr.all td { font-weight: 600 }
svg { width: 100%; height: auto } svg text { fill: var(--dim); font: 12px system-ui, sans-serif } svg text.value { fill: var(--text); font-weight: 600 }
.legend span { display: inline-block; margin-right: 1.2em; color: var(--dim) } .legend i { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .4em }
)";

constexpr double kWidth = 900, kHeight = 300, kLeft = 60, kRight = 30, kTop = 24, kBottom = 40;

// The middle of a size's place: sizes stand at equal distances, as powers of two do on a logarithmic axis.
double x_of(const Scaling& scaling, std::size_t index) {
  const double step = (kWidth - kLeft - kRight) / static_cast<double>(scaling.points.size());
  return kLeft + step * (static_cast<double>(index) + 0.5);
}

std::string size_labels(const Scaling& scaling) {
  std::string svg;
  for (std::size_t i = 0; i < scaling.points.size(); ++i)
    svg += fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>{}</text>\n", x_of(scaling, i),
                       kHeight - 14, format_plural(scaling.points[i].ranks, "rank"));
  return svg;
}

std::string grid_line(double y, const std::string& label) {
  return fmt::format(
      "<line x1='{0}' x2='{1}' y1='{2:.1f}' y2='{2:.1f}' stroke='var(--line)'/><text x='{3}' y='{4:.1f}' "
      "text-anchor='end'>{5}</text>\n",
      kLeft, kWidth - kRight, y, kLeft - 8, y + 4, label);
}

std::string efficiency_chart(const Scaling& scaling) {
  double most = 1;
  // An interval that says nothing is not drawn.
  const auto is_drawn = [](const Estimate& estimate) { return !interval_text(estimate).empty(); };
  for (const ScalePoint& point : scaling.points)
    most = std::max(most, is_drawn(point.efficiency) ? *point.efficiency.high : point.efficiency.value);
  most = std::min(most, 2.0);
  const auto y_of = [&](double efficiency) {
    return kHeight - kBottom - std::clamp(efficiency, 0.0, most) / most * (kHeight - kTop - kBottom);
  };
  std::string svg = fmt::format(
      "<svg viewBox='0 0 {} {}' role='img' aria-label='scaling efficiency by ranks'>\n", kWidth, kHeight);
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0})
    svg += grid_line(y_of(share), fmt::format("{:.0f} %", share * 100));
  std::string line;
  for (std::size_t i = 0; i < scaling.points.size(); ++i)
    line += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : " L", x_of(scaling, i),
                        y_of(scaling.points[i].efficiency.value));
  svg += fmt::format("<path d='{}' fill='none' stroke='var(--mark)' stroke-width='2'/>\n", line);
  for (std::size_t i = 0; i < scaling.points.size(); ++i) {
    const Estimate& estimate = scaling.points[i].efficiency;
    const double x = x_of(scaling, i), y = y_of(estimate.value);
    if (is_drawn(estimate))
      svg += fmt::format(
          "<path d='M{0:.1f} {1:.1f} V{2:.1f} M{3:.1f} {1:.1f} H{4:.1f} M{3:.1f} {2:.1f} H{4:.1f}' stroke='var(--mark)' "
          "stroke-width='1.5'/>\n",
          x, y_of(*estimate.low), y_of(*estimate.high), x - 5, x + 5);
    svg += fmt::format(
        "<circle cx='{0:.1f}' cy='{1:.1f}' r='4.5' fill='var(--mark)'/><text class='value' x='{2:.1f}' y='{3:.1f}'>{4}</text>\n",
        x, y, x + 10, y - 8, format_percent(estimate.value));
  }
  return svg + size_labels(scaling) + "</svg>\n";
}

std::string steps_chart(const Scaling& scaling) {
  std::int64_t longest = 1;
  for (const ScalePoint& point : scaling.points) longest = std::max({longest, point.step_ns, point.ideal_ns});
  const double scale = (kHeight - kTop - kBottom) / static_cast<double>(longest);
  const double width =
      std::min(110.0, (kWidth - kLeft - kRight) / static_cast<double>(scaling.points.size()) * 0.6);
  std::string svg = fmt::format("<svg viewBox='0 0 {} {}' role='img' aria-label='what a step is made of'>\n",
                                kWidth, kHeight);
  for (std::size_t i = 0; i < scaling.points.size(); ++i) {
    const ScalePoint& point = scaling.points[i];
    const double left = x_of(scaling, i) - width / 2;
    double bottom = kHeight - kBottom;
    for (std::size_t cause = 0; cause < kCauseCount; ++cause) {
      const double height = static_cast<double>(point.causes_ns[cause]) * scale;
      if (height < 0.1) continue;
      bottom -= height;
      svg += fmt::format(
          "<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='#{:06x}'><title>{}: {}</title></rect>\n",
          left, bottom, width, height, kCauseStyles[cause].rgb_dark,
          label_of(scaling, static_cast<Cause>(cause)), format_duration(point.causes_ns[cause]));
    }
    const double ideal = kHeight - kBottom - static_cast<double>(point.ideal_ns) * scale;
    svg += fmt::format(
        "<line x1='{0:.1f}' x2='{1:.1f}' y1='{2:.1f}' y2='{2:.1f}' stroke='var(--text)' stroke-width='2' stroke-dasharray='5 3'/>"
        "<text class='value' x='{3:.1f}' y='{4:.1f}' text-anchor='middle'>{5}</text>\n",
        left - 8, left + width + 8, ideal, left + width / 2, std::min(bottom, ideal) - 7,
        format_duration(point.step_ns));
  }
  svg += grid_line(kHeight - kBottom, "0") + size_labels(scaling) + "</svg>\n<p class='legend'>";
  for (std::size_t cause = 0; cause < kCauseCount; ++cause)
    if (std::ranges::any_of(scaling.points,
                            [&](const ScalePoint& point) { return point.causes_ns[cause] > 0; }))
      svg += fmt::format("<span><i style='background:#{:06x}'></i>{}</span>", kCauseStyles[cause].rgb_dark,
                         label_of(scaling, static_cast<Cause>(cause)));
  return svg + "<span>- - - ideal</span></p>\n";
}

std::string cell(const std::string& text) {
  return fmt::format("<td>{}</td>", text);
}

std::string points_table(const Scaling& scaling) {
  std::string html =
      "<table><tr><th>ranks<th>runs<th>step<th>ideal<th>efficiency<th>95 %<th>load balance<th>communication<th>computation</tr>\n";
  const auto percent = [](const std::optional<double>& ratio) {
    return ratio ? format_percent(*ratio) : std::string(kAbsent);
  };
  for (const ScalePoint& point : scaling.points)
    html += "<tr>" + cell(format_count(point.ranks)) + cell(format_count(point.paths.size())) +
            cell(format_duration(point.step_ns)) + cell(format_duration(point.ideal_ns)) +
            cell(format_percent(point.efficiency.value)) + cell(interval_text(point.efficiency)) +
            cell(percent(point.load_balance)) + cell(percent(point.communication_efficiency)) +
            cell(percent(point.computation_scaling)) + "</tr>\n";
  return html + "</table>\n";
}

std::string losses_table(const Scaling& scaling) {
  std::string html = "<table><tr><th>";
  for (const ScalePoint& point : scaling.points) html += "<th>" + format_plural(point.ranks, "rank");
  html += "</tr>\n";
  for (const Cause cause : causes_that_changed(scaling)) {
    html += "<tr>" + cell(label_of(scaling, cause));
    for (const ScalePoint& point : scaling.points)
      html += cell(format_change(point.loss_ns[static_cast<std::size_t>(cause)]));
    html += "</tr>\n";
  }
  html += "<tr class='all'>" + cell("all");
  for (const ScalePoint& point : scaling.points) html += cell(format_change(point.total_loss_ns()));
  return html + "</tr></table>\n";
}

}  // namespace

std::string to_html(const Scaling& scaling) {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
      "<title>Lockstep: scaling</title><style>{}</style>\n<h1>{}</h1>\n<p class='dim'>{}</p>\n",
      kStyle, escaped(headline(scaling)), escaped(kind_text(scaling)));
  for (const std::string& remark : remarks(scaling)) html += fmt::format("<p>{}</p>\n", escaped(remark));
  html += "<h2>Scaling efficiency</h2>\n" + efficiency_chart(scaling) + "<h2>What a step is made of</h2>\n" +
          steps_chart(scaling) + "<h2>Sizes</h2>\n" + points_table(scaling) +
          "<h2>Lost to, a step, beside the ideal after the smallest size</h2>\n" + losses_table(scaling);
  if (!scaling.messages.empty() || scaling.law)
    html += "<h2>Laws, fitted to what was measured, and no further</h2>\n";
  for (const MessageLaw& law : scaling.messages)
    html += fmt::format("<p>{}</p>\n", escaped(message_text(law)));
  if (scaling.law) html += fmt::format("<p>{}</p>\n", escaped(speedup_text(scaling)));
  return html + "</html>\n";
}

}  // namespace lockstep::analyzer

#include "analyzer/report/range_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "analyzer/report/json_measures.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/text_sections.h"

namespace lockstep::analyzer {

void write_json(const RangeReport& report, std::ostream& out) {
  out << "{\"schema\": \"" << kRangeSchema << "\",\n\"begin_ns\": " << report.begin_ns
      << ",\n\"end_ns\": " << report.end_ns << ",\n\"ranks\": [";
  const char* comma = "\n";
  for (const RangeReport::Rank& rank : report.ranks) {
    nlohmann::ordered_json object{{"rank", rank.rank}};
    add_measures(object, rank.measures);
    out << comma << "  " << object.dump();
    comma = ",\n";
  }
  out << "]}\n";
}

void print_range(const RangeReport& report, Page& page) {
  print_heading(
      page, "range",
      fmt::format("{} to {} after the run's begin: {}", format_duration(report.begin_ns),
                  format_duration(report.end_ns), format_duration(report.end_ns - report.begin_ns)));
  constexpr std::size_t kNarrowest = 12, kWidest = 60;
  Table table({{"rank", true, 0},
               {"time by cause", false, 0},
               {"compute", true, 0},
               {"transfer", true, 2},
               {"waits", true, 0},
               {"exposed", true, 1},
               {"overlap", true, 3}});
  table.set_elastic(1, kNarrowest, kWidest);
  const std::int64_t scale = std::max<std::int64_t>(report.end_ns - report.begin_ns, 1);
  for (const RangeReport::Rank& rank : report.ranks) {
    const Measures& m = rank.measures;
    const auto cell = [&m](bool known, std::int64_t ns) {
      return duration_cell(m.known && known ? std::optional(ns) : std::nullopt);
    };
    table.add_row({Line{}.text(fmt::format("{}", rank.rank)), Line{}, cell(true, m.compute_ns),
                   cell(true, m.partition[Cause::transfer]), cell(m.waits_known, wait_of(m)),
                   cell(true, m.exposed_communication_ns), Line{}.text(format_share(m.overlap_ratio))},
                  [&m, scale, ascii = page.options().ascii](std::size_t columns) {
                    // A part of its file is lost.
                    if (!m.known) return Line{}.text("not known");
                    return stacked_bar(m.partition, scale, columns, ascii);
                  });
  }
  table.print(page, 2);
}

}  // namespace lockstep::analyzer

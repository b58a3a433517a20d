// What theory says of the job, beside what was measured.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

#include "analyzer/report/measure_words.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/report_sections.h"
#include "analyzer/report/text_sections.h"
#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

std::string amount(double value, TheoryQuantity quantity) {
  const std::int64_t whole = std::llround(value);
  const std::string unit = unit_of(quantity);
  if (unit == "bytes") return format_bytes(whole);
  return format_count(whole) + " " + unit;
}

void print_theory(const Report& report, const TextOptions& /*options*/, Page& page) {
  if (report.theory.empty()) return;
  print_heading(page, sections::theory.title,
                "by what the program told of its training; Ψ parameters, n data-parallel ranks");
  Table table({{"quantity", false, 0},
               {"of", false, 3},
               {"measured", true, 0},
               {"theory", true, 0},
               {"ratio", true, 1},
               {"theory says", false, 2}});
  for (const TheoryReport& row : report.theory) {
    const std::optional<double> ratio = row.ratio();
    table.add_row({Line{}.text(quantity_name(row.quantity)), Line{}.dim(scope_text(row)),
                   row.measured ? Line{}.text(amount(*row.measured, row.quantity)) : Line{}.dim(kAbsent),
                   Line{}.text(amount(row.theory, row.quantity)),
                   ratio ? Line{}.text(fmt::format("{:.3f}", *ratio)) : Line{}.dim(kAbsent),
                   Line{}.dim(formula_text(row.formula))});
  }
  table.print(page, 2);
}

constexpr auto kTextTheoryMembers = std::to_array<std::string_view>({"theory"});

}  // namespace

constinit const ReportSection sections::theory{
    .id = "theory",
    .title = "beside theory",
    .on_page = "theory",
    .json = kTextTheoryMembers,
    .print = print_theory,
};

}  // namespace lockstep::analyzer

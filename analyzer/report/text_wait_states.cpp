// The table of wait states.
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "analyzer/report/quantity.h"
#include "analyzer/report/report_sections.h"
#include "analyzer/report/text_sections.h"
#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

void print_wait_states(const Report& report, const TextOptions& /*options*/, Page& page) {
  if (report.wait_states.empty()) return;
  print_heading(page, sections::wait_states.title,
                "who waited for what, by Scalasca's names; sums over ranks and waits that may overlap");
  Table table({{"state", false, 0},
               {"operations", true, 3},
               {"waits", true, 4},
               {"waited", true, 0},
               {"exposed wait", true, 2},
               {"longest on", false, 1}});
  for (const WaitStateReport& state : report.wait_states) {
    table.add_row(
        {Line{}.text(title_of(state.state)), Line{}.text(format_count(state.operations)),
         Line{}.text(format_count(state.waits)), duration_cell(state.wait_ns),
         duration_cell(state.exposed_ns),
         Line{}.text(fmt::format("rank {}: {}", state.worst_rank, format_duration(state.worst_rank_ns)))});
  }
  table.print(page, 2);
}

constexpr auto kTextWaitStatesMembers = std::to_array<std::string_view>({"wait_states"});

}  // namespace

constinit const ReportSection sections::wait_states{
    .id = "wait_states",
    .title = "wait states",
    .on_page = "wait-states",
    .json = kTextWaitStatesMembers,
    .print = print_wait_states,
};

}  // namespace lockstep::analyzer

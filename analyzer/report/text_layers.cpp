// The table of layers, for those who ask for it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "analyzer/report/measure_words.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/report_sections.h"
#include "analyzer/report/text_sections.h"
#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

Line microbatch_cell(const std::optional<LayerPass>& pass) {
  return pass ? duration_cell(pass->microbatch_ns) : Line{}.dim(kAbsent);
}

// The passes of all microbatches together, least and most over ranks.
Line range_cell(const LayerReport& layer, bool least) {
  std::int64_t sum = 0;
  for (const std::optional<LayerPass>& pass : {layer.forward, layer.backward, layer.recompute}) {
    if (pass) sum += least ? pass->min_ns : pass->max_ns;
  }
  return duration_cell(sum);
}

void print_layers(const Report& report, const TextOptions& options, Page& page) {
  if (!options.layers) return;
  if (report.layers.empty()) {
    print_heading(page, sections::layers.title,
                  "the input does not say which computations belong to which layer");
    return;
  }
  print_heading(page, sections::layers.title,
                "median of one microbatch; fastest and slowest rank: all microbatches");
  const bool ascii = page.options().ascii;
  const bool recompute = std::any_of(report.layers.begin(), report.layers.end(),
                                     [](const LayerReport& layer) { return layer.recompute.has_value(); });
  std::vector<Column> columns{{"", false, 0}, {"forward", true, 0}, {"backward", true, 0}};
  if (recompute) columns.push_back({"recompute", true, 2});
  columns.insert(columns.end(),
                 {{"fastest", true, 3}, {"slowest", true, 1}, {"slowest on", false, 1}, {"ranks", true, 4}});
  Table table(columns);
  for (const LayerReport& layer : report.layers) {
    std::vector<Line> cells{Line{}.text(fit(printable(layer_name(layer)), 24, ascii)),
                            microbatch_cell(layer.forward), microbatch_cell(layer.backward)};
    if (recompute) cells.push_back(microbatch_cell(layer.recompute));
    cells.push_back(range_cell(layer, true));
    cells.push_back(range_cell(layer, false));
    cells.push_back(Line{}.text(fmt::format("rank {}", layer.slowest_rank)));
    cells.push_back(Line{}.dim(fmt::format("{}", layer.ranks.size())));
    table.add_row(std::move(cells));
  }
  table.print(page, 2);
}

constexpr auto kTextLayersMembers = std::to_array<std::string_view>({"layers"});

}  // namespace

constinit const ReportSection sections::layers{
    .id = "layers",
    .title = "layers",
    .on_page = "layers",
    .json = kTextLayersMembers,
    .print = print_layers,
};

}  // namespace lockstep::analyzer

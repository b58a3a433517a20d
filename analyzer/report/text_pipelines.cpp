// Pipelines: the bubble beside its ideal, and the stages of the one that loses most.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/quantity.h"
#include "analyzer/report/report_sections.h"
#include "analyzer/report/text_sections.h"
#include "analyzer/report/unicode.h"
#include "base/number_lists.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kMaxPipelines = 4;

void print_stages(const PipelineReport& pipeline, Page& page) {
  Table table({{"stage", true, 0},
               {"rank", true, 5},
               {"layers", false, 4},
               {"compute", true, 0},
               {"transfer", true, 3},
               {"bubble", true, 0},
               {"warm-up", true, 2},
               {"steady", true, 2},
               {"cool-down", true, 2},
               {"of the region", true, 1}});
  for (const PipelineStage& stage : pipeline.stages_detail) {
    table.add_row(
        {Line{}.text(fmt::format("{}", stage.stage)), Line{}.text(fmt::format("{}", stage.rank)),
         Line{}.dim(stage.layers.empty() ? kAbsent
                                         : number_ranges(stage.layers, page.options().ascii ? "-" : "–")),
         duration_cell(stage.compute_ns), duration_cell(stage.exposed_transfer_ns),
         duration_cell(stage.bubble_ns), duration_cell(stage.warm_up_ns), duration_cell(stage.steady_ns),
         duration_cell(stage.cool_down_ns), share_cell(stage.bubble_ns, pipeline.region_ns)});
  }
  table.print(page, 2);
}

// `"mesh_pp"`, of several that have that name with its ranks.
std::string name_of(const Report& report, const PipelineReport& pipeline) {
  const auto same = std::count_if(report.pipeline.begin(), report.pipeline.end(),
                                  [&](const PipelineReport& one) { return one.group == pipeline.group; });
  std::string name = fmt::format("\"{}\"", printable(pipeline.group));
  if (same < 2 || pipeline.stages_detail.empty()) return name;
  std::vector<std::int32_t> ranks;
  for (const PipelineStage& stage : pipeline.stages_detail) ranks.push_back(stage.rank);
  return fmt::format("{} ({})", name, name_ranks(ranks));
}

}  // namespace

std::string schedule_text(const PipelineReport& pipeline) {
  std::string text =
      pipeline.schedule == Schedule::unknown ? "schedule unknown" : to_string(pipeline.schedule);
  text += fmt::format(", {}", format_plural(pipeline.stages, "stage"));
  if (pipeline.microbatches)
    text += fmt::format(", {}", *pipeline.microbatches == 1
                                    ? "1 microbatch"
                                    : fmt::format("{} microbatches", *pipeline.microbatches));
  if (pipeline.chunks > 1) text += fmt::format(", {} chunks a stage", pipeline.chunks);
  return text;
}

namespace {

void print_pipelines(const Report& report, const TextOptions& /*options*/, Page& page) {
  if (report.pipeline.empty()) return;
  print_heading(page, report.pipeline.size() == 1 ? "pipeline" : sections::pipelines.title,
                "the bubble is the time of a stage in its region without compute and exposed transfer");
  std::vector<const PipelineReport*> order;
  for (const PipelineReport& pipeline : report.pipeline) order.push_back(&pipeline);
  std::stable_sort(order.begin(), order.end(), [](const PipelineReport* a, const PipelineReport* b) {
    return a->bubble_ratio.value_or(-1) > b->bubble_ratio.value_or(-1);
  });
  const std::size_t shown = std::min(order.size(), kMaxPipelines);
  for (std::size_t i = 0; i < shown; ++i) {
    const PipelineReport& p = *order[i];
    Line line;
    line.bold(name_of(report, p)).text(": ").text(schedule_text(p)).text(": ");
    if (p.bubble_ratio) {
      line.text("bubble ").bold(format_share(p.bubble_ratio)).text(" of the region");
      if (p.bubble_ratio_ideal) line.text(fmt::format(", ideal {}", format_share(p.bubble_ratio_ideal)));
    } else {
      line.dim("bubble not known");
    }
    page.wrap(line, 2, 4);
  }
  if (order.size() > shown)
    page.add(Line{}.text("  ").dim(fmt::format("… {} more: --json FILE", order.size() - shown)));
  if (!order.front()->bubble_ratio) return;
  if (order.size() > 1)
    page.wrap(Line{}.text(fmt::format("stages of {}, which loses most:", name_of(report, *order.front()))), 2,
              4);
  print_stages(*order.front(), page);
}

constexpr auto kTextPipelinesMembers = std::to_array<std::string_view>({"pipeline"});

}  // namespace

constinit const ReportSection sections::pipelines{
    .id = "pipelines",
    .title = "pipelines",
    .on_page = "pipelines",
    .json = kTextPipelinesMembers,
    .print = print_pipelines,
};

}  // namespace lockstep::analyzer

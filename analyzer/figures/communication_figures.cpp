// Bandwidth of process groups, and the bubbles of pipelines.
#include <fmt/format.h>

#include "analyzer/figures/figures.h"
#include "analyzer/figures/steady_part.h"

namespace lockstep::analyzer::figures {

const FigureKind busbw{
    .name = "busbw",
    .meaning = "bus bandwidth of a group's operations of one kind: the median, as nccl-tests defines it",
    .unit = Unit::gigabytes_per_second,
    .direction = Direction::higher_is_better,
    .values = [](const SteadyPart& run) {
      std::vector<ScopedValue> values;
      for (const GroupReport& group : run.report.groups)
        for (const GroupOperation& operation : group.operations)
          if (operation.busbw_gbps)
            values.push_back({fmt::format("group {} {}", group.name, to_string(operation.operation)),
                              *operation.busbw_gbps});
      return values;
    }};

const FigureKind bubble_ratio{.name = "bubble_ratio",
                              .meaning = "the share of a pipeline's time in which its stages are idle",
                              .unit = Unit::share,
                              .floor = kHundredth,
                              .values = [](const SteadyPart& run) {
                                std::vector<ScopedValue> values;
                                for (const PipelineReport& pipeline : run.report.pipeline)
                                  if (pipeline.bubble_ratio)
                                    values.push_back({"group " + pipeline.group, *pipeline.bubble_ratio});
                                return values;
                              }};

}  // namespace lockstep::analyzer::figures

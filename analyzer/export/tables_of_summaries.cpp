// Tables of the report's summaries: groups, pipelines, layers; and the counters' points.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "analyzer/export/tables.h"
#include "analyzer/report/measure_words.h"

namespace lockstep::analyzer {
namespace {

using enum ColumnType;
using Row = std::vector<Value>;

}  // namespace

TableDefinition make_groups_table() {
  return {"groups",
          {{"group_name", text},
           {"group_ranks", text},
           {"operation", text},
           {"count", integer},
           {"bytes", integer},
           {"bytes_per_step_and_rank", real},
           {"wire_bytes_per_step_and_rank", real},
           {"wait_ns", integer},
           {"transfer_ns", integer},
           {"exposed_ns", integer},
           {"busbw_gbps", real},
           {"busbw_wire_gbps", real}},
          [](const Job&, const Analysis& analysis, const RowSink& sink) {
            for (const GroupReport& group : analysis.report.groups) {
              const std::string ranks = fmt::format("{}", fmt::join(group.ranks, ","));
              for (const GroupOperation& o : group.operations) {
                const Row row{text_or_null(group.name),
                              text_or_null(ranks),
                              std::string_view(trace::to_string(o.operation)),
                              o.count,
                              nullable(o.bytes),
                              nullable(o.bytes_per_step_and_rank),
                              nullable(o.wire_bytes_per_step_and_rank),
                              nullable(o.wait_ns),
                              o.transfer_ns,
                              nullable(o.exposed_ns),
                              nullable(o.busbw_gbps),
                              nullable(o.busbw_wire_gbps)};
                if (!sink(row)) return;
              }
            }
          }};
}

TableDefinition make_wait_states_table() {
  return {"wait_states",
          {{"state", text},
           {"operations", integer},
           {"waits", integer},
           {"wait_ns", integer},
           {"exposed_ns", integer},
           {"worst_rank", integer},
           {"worst_rank_wait_ns", integer}},
          [](const Job&, const Analysis& analysis, const RowSink& sink) {
            for (const WaitStateReport& state : analysis.report.wait_states) {
              const Row row{std::string_view(to_string(state.state)),
                            state.operations,
                            state.waits,
                            state.wait_ns,
                            nullable(state.exposed_ns),
                            std::int64_t{state.worst_rank},
                            state.worst_rank_ns};
              if (!sink(row)) return;
            }
          }};
}

TableDefinition make_theory_table() {
  return {"theory",
          {{"quantity", text},
           {"scope", text},
           {"unit", text},
           {"measured", real},
           {"theory", real},
           {"formula", text}},
          [](const Job&, const Analysis& analysis, const RowSink& sink) {
            for (const TheoryReport& one : analysis.report.theory) {
              const std::string scope = scope_text(one), formula = formula_text(one.formula);
              const Row row{std::string_view(quantity_name(one.quantity)),
                            std::string_view(scope),
                            std::string_view(unit_of(one.quantity)),
                            nullable(one.measured),
                            one.theory,
                            std::string_view(formula)};
              if (!sink(row)) return;
            }
          }};
}

TableDefinition make_pipelines_table() {
  return {"pipelines",
          {{"group_name", text},
           {"stages", integer},
           {"microbatches", integer},
           {"chunks", integer},
           {"schedule", text},
           {"bubble_ratio", real},
           {"bubble_ratio_ideal", real},
           {"bubble_ns", integer},
           {"region_ns", integer},
           {"steps", integer},
           {"reason", text}},
          [](const Job&, const Analysis& analysis, const RowSink& sink) {
            for (const PipelineReport& p : analysis.report.pipeline) {
              const std::string reason = reason_text(p.reason);
              const Row row{text_or_null(p.group),
                            std::int64_t{p.stages},
                            nullable(p.microbatches),
                            std::int64_t{p.chunks},
                            std::string_view(to_string(p.schedule)),
                            nullable(p.bubble_ratio),
                            nullable(p.bubble_ratio_ideal),
                            p.bubble_ratio ? Value(p.bubble_ns) : Value(std::monostate{}),
                            p.region_ns,
                            p.steps,
                            text_or_null(reason)};
              if (!sink(row)) return;
            }
          }};
}

TableDefinition make_pipeline_stages_table() {
  return {"pipeline_stages",
          {{"group_name", text},
           {"stage", integer},
           {"rank", integer},
           {"layers", text},
           {"forward_ns", integer},
           {"backward_ns", integer},
           {"recompute_ns", integer},
           {"compute_ns", integer},
           {"exposed_transfer_ns", integer},
           {"bubble_ns", integer},
           {"warm_up_ns", integer},
           {"steady_ns", integer},
           {"cool_down_ns", integer}},
          [](const Job&, const Analysis& analysis, const RowSink& sink) {
            for (const PipelineReport& p : analysis.report.pipeline) {
              for (const PipelineStage& s : p.stages_detail) {
                const std::string layers = fmt::format("{}", fmt::join(s.layers, ","));
                const Row row{text_or_null(p.group),
                              std::int64_t{s.stage},
                              std::int64_t{s.rank},
                              text_or_null(layers),
                              s.forward_ns,
                              s.backward_ns,
                              s.recompute_ns,
                              s.compute_ns,
                              s.exposed_transfer_ns,
                              s.bubble_ns,
                              nullable(s.warm_up_ns),
                              nullable(s.steady_ns),
                              nullable(s.cool_down_ns)};
                if (!sink(row)) return;
              }
            }
          }};
}

TableDefinition make_layers_table() {
  return {"layers",
          {{"layer", integer},
           {"name", text},
           {"pass", text},
           {"min_ns", integer},
           {"median_ns", integer},
           {"max_ns", integer},
           {"slowest_rank", integer},
           {"microbatch_ns", integer}},
          [](const Job&, const Analysis& analysis, const RowSink& sink) {
            for (const LayerReport& layer : analysis.report.layers) {
              const std::string name = layer_name(layer);
              const std::pair<const char*, const std::optional<LayerPass>&> passes[] = {
                  {"forward", layer.forward}, {"backward", layer.backward}, {"recompute", layer.recompute}};
              for (const auto& [pass, times] : passes) {
                if (!times) continue;
                const Row row{nullable(layer.layer),
                              std::string_view(name),
                              std::string_view(pass),
                              times->min_ns,
                              times->median_ns,
                              times->max_ns,
                              std::int64_t{times->slowest_rank},
                              times->microbatch_ns};
                if (!sink(row)) return;
              }
            }
          }};
}

TableDefinition make_counters_table() {
  return {"counters",
          {{"rank", integer}, {"name", name}, {"time_ns", integer}, {"value", real}},
          [](const Job& job, const Analysis& analysis, const RowSink& sink) {
            for (const RankTrace& rank : job.ranks) {
              for (const CounterTrack& counter : rank.counters) {
                for (const CounterPoint& point : counter.points) {
                  if (!sink(Row{std::int64_t{rank.rank}, std::string_view(counter.name),
                                relative_time(point.time, analysis), point.value}))
                    return;
                }
              }
            }
          }};
}

}  // namespace lockstep::analyzer

// Tables that show the report.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "analyzer/export/tables.h"
#include "analyzer/report/absences.h"
#include "analyzer/report/exposure.h"
#include "analyzer/report/json.h"
#include "analyzer/report/measure_fields.h"

namespace lockstep::analyzer {
namespace {

using enum ColumnType;
using Row = std::vector<Value>;

Value known_or_null(bool known, std::int64_t ns) {
  return known ? Value(ns) : Value(std::monostate{});
}

// What is not known is NULL.
void add_measures(Row& row, const Measures& m) {
  for (const MeasureField& field : measure_fields())
    row.push_back(std::visit([](const auto& value) { return Value(value); }, value_of(field, m)));
}

// A step has a length, be it zero.
void add_measures_of_step(Row& row, const Measures& m) {
  const std::size_t begin = row.size();
  add_measures(row, m);
  const auto fields = measure_fields();
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (std::string_view(fields[i].key) == "window_ns") row[begin + i] = m.window_ns;
}

std::vector<TableColumn> with_measures(std::vector<TableColumn> columns) {
  for (const MeasureField& field : measure_fields())
    columns.push_back({field.key, field.is_time() ? integer : real});
  return columns;
}

}  // namespace

TableDefinition make_metadata_table() {
  return {"metadata",
          {{"key", text}, {"value", text}},
          [](const Job&, const Analysis& analysis, const RowSink& sink) {
            const Report& report = analysis.report;
            const auto add = [&](const char* key, const std::string& value) {
              const std::array<Value, 2> row{std::string_view(key), std::string_view(value)};
              sink(row);
            };
            add("schema", "lockstep.export/1");
            add("report_schema", kReportSchema);
            add("path", report.path);
            add("sources", fmt::format("{}", fmt::join(report.sources, ",")));
            add("world_size", fmt::format("{}", report.world_size));
            add("ranks_missing", fmt::format("{}", fmt::join(report.ranks_missing, ",")));
            add("unmatched", fmt::format("{}", report.unmatched));
            if (report.origin_ns) add("origin_ns", fmt::format("{}", *report.origin_ns));
          }};
}

TableDefinition make_warnings_table() {
  return {"warnings",
          {{"code", text}, {"message", text}, {"rank", integer}},
          [](const Job&, const Analysis& analysis, const RowSink& sink) {
            std::vector<Warning> warnings = analysis.report.warnings;
            for (Warning& absence : explain_absences(analysis.report)) warnings.push_back(std::move(absence));
            for (const Warning& w : warnings) {
              const Value rank = w.rank == kNoRank ? Value(std::monostate{}) : Value(std::int64_t{w.rank});
              if (!sink(Row{std::string_view(w.code), std::string_view(w.message), rank})) return;
            }
          }};
}

TableDefinition make_ranks_table() {
  std::vector<TableColumn> columns{{"rank", integer},
                                   {"host", text},
                                   {"device", text},
                                   {"file", text},
                                   {"begin_ns", integer},
                                   {"end_ns", integer},
                                   {"dropped_events", integer},
                                   {"clock_offset_ns", integer},
                                   {"clock_uncertainty_ns", integer},
                                   {"clock_evidence", text}};
  return {"ranks", with_measures(std::move(columns)),
          [](const Job& job, const Analysis& analysis, const RowSink& sink) {
            for (std::size_t i = 0; i < analysis.report.ranks.size(); ++i) {
              const RankReport& r = analysis.report.ranks[i];
              Row row{std::int64_t{r.rank},
                      text_or_null(r.host),
                      text_or_null(r.device),
                      i < job.ranks.size() ? text_or_null(job.ranks[i].file) : Value(std::monostate{}),
                      r.begin_ns,
                      r.end_ns,
                      static_cast<std::int64_t>(r.dropped_events),
                      r.clock.evidence.empty() ? Value(std::monostate{}) : Value(r.clock.offset_ns),
                      r.clock.evidence.empty() ? Value(std::monostate{}) : Value(r.clock.uncertainty_ns),
                      text_or_null(r.clock.evidence)};
              add_measures(row, r.measures);
              if (!sink(row)) return;
            }
          }};
}

TableDefinition make_steps_table() {
  return {"steps",
          with_measures({{"step", integer}, {"rank", integer}, {"begin_ns", integer}, {"end_ns", integer}}),
          [](const Job&, const Analysis& analysis, const RowSink& sink) {
            for (const StepReport& s : analysis.report.steps) {
              Row row{s.step, std::int64_t{s.rank}, s.begin_ns, s.end_ns};
              add_measures_of_step(row, s.measures);
              if (!sink(row)) return;
            }
          }};
}

TableDefinition make_causes_table() {
  return {"causes",
          {{"rank", integer}, {"step", integer}, {"cause", text}, {"ns", integer}},
          [](const Job&, const Analysis& analysis, const RowSink& sink) {
            const auto add = [&](std::int32_t rank, const Value& step, const Partition& partition) {
              for (std::size_t i = 0; i < kCauseCount; ++i) {
                const std::string_view cause = to_string(static_cast<Cause>(i));
                if (!sink(std::array<Value, 4>{std::int64_t{rank}, step, cause, partition.ns[i]}))
                  return false;
              }
              return true;
            };
            for (const RankReport& r : analysis.report.ranks) {
              if (r.measures.known && !add(r.rank, std::monostate{}, r.measures.partition)) return;
            }
            for (const StepReport& s : analysis.report.steps) {
              if (s.measures.known && !add(s.rank, s.step, s.measures.partition)) return;
            }
          }};
}

TableDefinition make_segments_table() {
  return {"segments",
          {{"rank", integer}, {"begin_ns", integer}, {"end_ns", integer}, {"cause", text}},
          [](const Job& job, const Analysis& analysis, const RowSink& sink) {
            for (std::size_t r = 0; r < analysis.segments.size() && r < job.ranks.size(); ++r) {
              for (const CauseSegment& s : analysis.segments[r]) {
                const std::array<Value, 4> row{
                    std::int64_t{job.ranks[r].rank}, relative_time(s.begin, analysis),
                    relative_time(s.end, analysis), std::string_view(to_string(s.cause))};
                if (!sink(row)) return;
              }
            }
          }};
}

TableDefinition make_collectives_table() {
  return {"collectives",
          {{"collective", integer},
           {"step", integer},
           {"operation", text},
           {"group_name", text},
           {"group_ranks", text},
           {"sequence", integer},
           {"bytes", integer},
           {"dtype", text},
           {"evidence", text},
           {"partial", integer},
           {"last_arriver", integer},
           {"last_arriver_margin_ns", integer},
           {"algbw_gbps", real},
           {"busbw_gbps", real},
           {"busbw_wire_gbps", real},
           {"wait_ns", integer}},
          [](const Job&, const Analysis& analysis, const RowSink& sink) {
            for (const CollectiveReport& c : analysis.report.collectives) {
              const std::string ranks = fmt::format("{}", fmt::join(c.group_ranks, ","));
              const Row row{c.id,
                            nullable(c.step),
                            std::string_view(trace::to_string(c.operation)),
                            text_or_null(c.group_name),
                            text_or_null(ranks),
                            nullable(c.sequence),
                            nullable(c.bytes),
                            std::string_view(trace::to_string(c.data_type)),
                            text_or_null(c.evidence),
                            std::int64_t{c.partial},
                            nullable(c.last_arriver),
                            nullable(c.last_arriver_margin_ns),
                            nullable(c.algbw_gbps),
                            nullable(c.busbw_gbps),
                            nullable(c.busbw_wire_gbps),
                            known_or_null(c.waits_known(), c.wait_ns)};
              if (!sink(row)) return;
            }
          }};
}

TableDefinition make_collective_ranks_table() {
  return {"collective_ranks",
          {{"collective", integer},
           {"rank", integer},
           {"arrival_ns", integer},
           {"end_ns", integer},
           {"wait_ns", integer},
           {"transfer_ns", integer},
           {"hidden_ns", integer},
           {"activity", integer}},
          [](const Job&, const Analysis& analysis, const RowSink& sink) {
            for (const CollectiveReport& c : analysis.report.collectives) {
              for (const CollectiveRank& r : c.ranks) {
                const Value activity =
                    r.activity == kNone ? Value(std::monostate{}) : Value(std::int64_t{r.activity});
                const bool known = c.waits_known();
                const std::array<Value, 8> row{c.id,
                                               std::int64_t{r.rank},
                                               r.arrival_ns,
                                               r.end_ns,
                                               known_or_null(known, r.wait_ns),
                                               r.transfer_ns,
                                               known_or_null(known && r.hidden_known, r.hidden_ns),
                                               activity};
                if (!sink(row)) return;
              }
            }
          }};
}

TableDefinition make_blame_table() {
  return {"blame",
          {{"rank", integer},
           {"blame_ns", integer},
           {"exposed_ns", integer},
           {"collectives", integer},
           {"root_cause", text},
           {"persistent", integer},
           {"scheduled_ns", integer}},
          [](const Job&, const Analysis& analysis, const RowSink& sink) {
            for (const BlameReport& b : analysis.report.blame) {
              const Row row{std::int64_t{b.rank},
                            b.blame_ns,
                            known_or_null(is_exposure_known(analysis.report, b), b.exposed_ns),
                            b.collectives,
                            text_or_null(b.root_cause),
                            nullable(b.persistent),
                            b.scheduled_ns};
              if (!sink(row)) return;
            }
          }};
}

TableDefinition make_findings_table() {
  return {"findings",
          {{"code", text},
           {"severity", text},
           {"title", text},
           {"evidence", text},
           {"remedy", text},
           {"lost_ns", integer},
           {"lost_share", real},
           {"cause", text},
           {"about_rank", integer},
           {"place_rank", integer},
           {"place_step", integer},
           {"place_collective", integer},
           {"place_begin_ns", integer},
           {"place_end_ns", integer}},
          [](const Job&, const Analysis& analysis, const RowSink& sink) {
            for (const Finding& f : analysis.report.findings) {
              const std::string evidence = fmt::format("{}", fmt::join(f.evidence, "\n"));
              std::optional<std::int64_t> rank, step, collective, begin_ns, end_ns;
              if (f.place) {
                rank = f.place->rank, step = f.place->step, collective = f.place->collective;
                begin_ns = f.place->begin_ns, end_ns = f.place->end_ns;
              }
              const Row row{std::string_view(f.code),
                            std::string_view(f.severity),
                            std::string_view(f.title),
                            text_or_null(evidence),
                            text_or_null(f.remedy),
                            f.lost_ns,
                            f.lost_share,
                            f.cause ? Value(std::string_view(to_string(*f.cause))) : Value(std::monostate{}),
                            nullable(f.rank),
                            nullable(rank),
                            nullable(step),
                            nullable(collective),
                            nullable(begin_ns),
                            nullable(end_ns)};
              if (!sink(row)) return;
            }
          }};
}

}  // namespace lockstep::analyzer

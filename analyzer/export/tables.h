// The tables of the SQLite and CSV exports: one definition for both, and for docs/export.md. Internal to this
// library.
//
// Times are ns relative to the report's origin, as in the JSON report.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

// std::monostate is NULL, or an empty CSV field.
using Value = std::variant<std::monostate, std::int64_t, double, std::string_view>;

enum class ColumnType : std::uint8_t {
  integer,
  real,
  text,
  name,  // text that repeats: SQLite stores it once, in `names`, and the column holds its id
};

struct TableColumn {
  const char* name;
  ColumnType type;
};

// Receives the rows of a table in order; false stops.
using RowSink = std::function<bool(std::span<const Value>)>;

struct TableDefinition {
  const char* name;
  std::vector<TableColumn> columns;
  std::function<void(const Job&, const Analysis&, const RowSink&)> rows;
};

// Every table, each with at least one column.
const std::vector<TableDefinition>& table_definitions();
const TableDefinition& activities_table();

// In the files they come from.
TableDefinition make_metadata_table();
TableDefinition make_warnings_table();
TableDefinition make_ranks_table();
TableDefinition make_steps_table();
TableDefinition make_causes_table();
TableDefinition make_segments_table();
TableDefinition make_collectives_table();
TableDefinition make_collective_ranks_table();
TableDefinition make_blame_table();
TableDefinition make_findings_table();
TableDefinition make_lanes_table();
TableDefinition make_activities_table();
TableDefinition make_communications_table();
TableDefinition make_host_ranges_table();
TableDefinition make_wait_states_table();
TableDefinition make_theory_table();
TableDefinition make_groups_table();
TableDefinition make_pipelines_table();
TableDefinition make_pipeline_stages_table();
TableDefinition make_layers_table();
TableDefinition make_counters_table();

// Times relative to the report's origin; NULL for kUnknownTime.
Value relative_time(Nanoseconds aligned, const Analysis& analysis);
// NULL for an empty text, which must outlive the value.
Value text_or_null(const std::string& text);
template <class T>
Value nullable(const std::optional<T>& value) {
  if (!value) return std::monostate{};
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(*value);
  } else {
    return static_cast<std::int64_t>(*value);
  }
}

}  // namespace lockstep::analyzer

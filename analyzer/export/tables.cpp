#include "analyzer/export/tables.h"

#include <algorithm>

namespace lockstep::analyzer {

const std::vector<TableDefinition>& table_definitions() {
  static const std::vector<TableDefinition> kTables{
      make_metadata_table(),    make_warnings_table(),         make_ranks_table(),
      make_steps_table(),       make_causes_table(),           make_segments_table(),
      make_lanes_table(),       make_activities_table(),       make_communications_table(),
      make_collectives_table(), make_collective_ranks_table(), make_host_ranges_table(),
      make_blame_table(),       make_findings_table(),         make_groups_table(),
      make_pipelines_table(),   make_pipeline_stages_table(),  make_layers_table(),
      make_counters_table(),    make_wait_states_table(),      make_theory_table(),
  };
  return kTables;
}

const TableDefinition& activities_table() {
  static const TableDefinition kActivities = make_activities_table();
  return kActivities;
}

Value text_or_null(const std::string& text) {
  return text.empty() ? Value(std::monostate{}) : Value(std::string_view(text));
}

Value relative_time(Nanoseconds aligned, const Analysis& analysis) {
  if (aligned == kUnknownTime) return std::monostate{};
  return aligned - analysis.report.origin_aligned_ns;
}

}  // namespace lockstep::analyzer

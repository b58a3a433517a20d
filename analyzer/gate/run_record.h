// What a gate keeps of a run: its figures, and what makes it comparable with another one. A baseline is a
// list of these; kept beside a run they spare its analysis.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/report/report.h"
#include "base/result.h"

namespace lockstep::analyzer {

struct RunFigure {
  std::string name, scope;  // "step_time" and "" or "rank 3" (figures/figure.h)
  double value = 0;
  bool operator==(const RunFigure&) const = default;
};

// What has to be the same of two runs whose figures are compared.
struct RunSetting {
  std::int32_t world_size = 0;
  std::int32_t hosts = 0;
  std::vector<std::string> devices;  // of the ranks, sorted, each once
  bool operator==(const RunSetting&) const = default;
};

struct RunRecord {
  std::string path;
  std::optional<std::int64_t> start_ns;  // since 1970
  RunSetting setting;
  std::int64_t steps = 0;          // steady ones, of which the figures are
  std::string unfit;               // why it may not be judged: "the job hung"; "" where it may
  std::vector<RunFigure> figures;  // each name and scope once
  std::optional<double> of(std::string_view name, std::string_view scope) const;
};

// Of fewer steps a run is unfit: nobody knows what is steady in it.
inline constexpr std::int64_t kLeastSteps = 5;

// Of the report of a whole run, analyzed with AnalysisOptions::steady.
RunRecord run_record(const Report& report);

nlohmann::ordered_json to_json(const RunRecord& record);
// Errors name what is missing, or of the wrong type.
Result<RunRecord> run_record_from(const nlohmann::ordered_json& json);

// That no two of these are the same recording, under whatever names: it would look like two runs that agree.
// A recording is known by the time of its first activity; where none tells the time of day, by its figures.
Status check_different(std::span<const RunRecord> head, std::span<const RunRecord> base);

}  // namespace lockstep::analyzer

#include "analyzer/gate/run_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "analyzer/figures/figures.h"
#include "analyzer/figures/steady_part.h"
#include "analyzer/report/unicode.h"
#include "analyzer/report/whole_run.h"
#include "base/counts.h"

namespace lockstep::analyzer {
namespace {

using Json = nlohmann::ordered_json;

RunSetting setting_of(const Report& report) {
  std::set<std::string> hosts, devices;
  for (const RankReport& rank : report.ranks) {
    hosts.insert(rank.host);
    devices.insert(rank.device);
  }
  return {.world_size = report.world_size,
          .hosts = static_cast<std::int32_t>(hosts.size()),
          .devices = {devices.begin(), devices.end()}};
}

// A run that broke off, or of which ranks are missing, is no measurement of how fast it is.
std::string why_unfit(const Report& report, std::int64_t steps) {
  if (const std::string why = why_not_whole(report); !why.empty()) return why + ": record it again";
  if (!report.ranks_missing.empty())
    return fmt::format("{} left no trace: record it again, with all of its ranks",
                       format_plural(report.ranks_missing.size(), "rank"));
  if (steps < kLeastSteps)
    return fmt::format("it has {} to judge, and {} are needed: run it longer",
                       steps == 0 ? "no steady step" : format_plural(steps, "steady step"), kLeastSteps);
  return "";
}

// Figures of two runs are not the same to the last bit, of all causes and ranks.
bool is_same(const RunRecord& a, const RunRecord& b) {
  if (a.start_ns || b.start_ns) return a.start_ns == b.start_ns;
  return !a.figures.empty() && a.steps == b.steps && a.setting == b.setting && a.figures == b.figures;
}

}  // namespace

std::optional<double> RunRecord::of(std::string_view name, std::string_view scope) const {
  const auto found = std::find_if(figures.begin(), figures.end(), [&](const RunFigure& figure) {
    return figure.name == name && figure.scope == scope;
  });
  return found == figures.end() ? std::nullopt : std::optional(found->value);
}

RunRecord run_record(const Report& report) {
  RunRecord record;
  record.path = report.path;
  record.start_ns = report.origin_ns;
  record.setting = setting_of(report);
  record.steps = static_cast<std::int64_t>(steady_part(report).steps.size());
  record.unfit = why_unfit(report, record.steps);
  for (const FigureValues& figure : figures_of(report))
    for (const ScopedValue& value : figure.values)
      if (std::isfinite(value.value))
        record.figures.push_back({std::string(figure.kind->name), value.scope, value.value});
  return record;
}

Json to_json(const RunRecord& record) {
  Json json;
  json["path"] = to_valid_utf8(record.path);
  json["start_ns"] = record.start_ns ? Json(*record.start_ns) : Json();
  json["world_size"] = record.setting.world_size;
  json["hosts"] = record.setting.hosts;
  json["devices"] = Json::array();
  for (const std::string& device : record.setting.devices) json["devices"].push_back(to_valid_utf8(device));
  json["steps"] = record.steps;
  json["unfit"] = to_valid_utf8(record.unfit);
  // By figure and scope, so that two of them differ in the lines that differ.
  Json& figures = json["figures"] = Json::object();
  for (const RunFigure& figure : record.figures)
    figures[figure.name][to_valid_utf8(figure.scope)] = figure.value;
  return json;
}

Result<RunRecord> run_record_from(const Json& json) {
  if (!json.is_object()) return Error{"a run is no object"};
  RunRecord record;
  try {
    record.path = json.at("path").get<std::string>();
    if (!json.at("start_ns").is_null()) record.start_ns = json.at("start_ns").get<std::int64_t>();
    record.setting.world_size = json.at("world_size").get<std::int32_t>();
    record.setting.hosts = json.at("hosts").get<std::int32_t>();
    record.setting.devices = json.at("devices").get<std::vector<std::string>>();
    record.steps = json.at("steps").get<std::int64_t>();
    record.unfit = json.at("unfit").get<std::string>();
    for (const auto& [name, scopes] : json.at("figures").items())
      for (const auto& [scope, value] : scopes.items())
        record.figures.push_back({name, scope, value.get<double>()});
  } catch (const nlohmann::json::exception& error) {
    return Error{error.what()};
  }
  return record;
}

Status check_different(std::span<const RunRecord> head, std::span<const RunRecord> base) {
  std::vector<const RunRecord*> all;
  for (const RunRecord& run : head) all.push_back(&run);
  for (const RunRecord& run : base) all.push_back(&run);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!is_same(*all[i], *all[j])) continue;
      if (j < head.size() && i >= head.size())
        return Error{
            fmt::format("{} is a run of the baseline itself, {} there: give runs that were made after it",
                        all[j]->path, all[i]->path)};
      return Error{
          fmt::format("{} and {} are the same run: give different ones", all[j]->path, all[i]->path)};
    }
  }
  return {};
}

}  // namespace lockstep::analyzer

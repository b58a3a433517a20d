#include "analyzer/gate/baseline.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/small_file.h"

namespace lockstep::analyzer {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "lockstep.baseline/1";
constexpr std::string_view kAnySchema = "lockstep.baseline/";

}  // namespace

std::string to_text(const Baseline& baseline) {
  Json json;
  json["schema"] = kSchema;
  json["lockstep_version"] = baseline.lockstep_version;
  json["saved"] = baseline.saved;
  json["runs"] = Json::array();
  for (const RunRecord& run : baseline.runs) json["runs"].push_back(to_json(run));
  return json.dump(1) + "\n";
}

Result<Baseline> parse_baseline(const std::string& text, const std::string& path) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object())
    return Error{fmt::format("{}: it is no baseline: no JSON object", path)};
  const Json& schema = json.contains("schema") ? json["schema"] : Json();
  if (schema != kSchema)
    return Error{fmt::format("{}: its schema is {}, and this version reads {}: save it again", path,
                             schema.dump(), kSchema)};
  Baseline baseline;
  try {
    baseline.lockstep_version = json.at("lockstep_version").get<std::string>();
    baseline.saved = json.at("saved").get<std::string>();
    for (const Json& run : json.at("runs")) {
      Result<RunRecord> record = run_record_from(run);
      if (!record.ok()) return Error{fmt::format("{}: {}", path, record.error().message)};
      baseline.runs.push_back(std::move(record).value());
    }
  } catch (const nlohmann::json::exception& error) {
    return Error{fmt::format("{}: {}", path, error.what())};
  }
  if (baseline.runs.empty()) return Error{fmt::format("{}: there is no run in it", path)};
  return baseline;
}

Result<Baseline> read_baseline(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return Error{fmt::format("{}: there is no such file", path)};
  return parse_baseline(read_small_file(path, kWholeFile), path);
}

bool is_baseline(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  return read_small_file(path, 256).find(kAnySchema) != std::string::npos;
}

}  // namespace lockstep::analyzer

#include "analyzer/gate/history.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "analyzer/comparison/sample.h"
#include "analyzer/figures/figures.h"
#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

using Json = nlohmann::ordered_json;

// A field of CSV: in quotation marks where it holds a comma, a quotation mark or the end of a line.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string join_fields(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& one : fields) {
    if (!line.empty()) line += ',';
    line += field(one);
  }
  return line + "\n";
}

}  // namespace

Json to_history(const Verdict& verdict, std::span<const RunRecord> head, const CheckStamp& stamp) {
  Json json;
  json["schema"] = "lockstep.history/1";
  json["time"] = stamp.time;
  json["commit"] = stamp.commit.empty() ? Json() : Json(to_valid_utf8(stamp.commit));
  json["outcome"] = to_string(verdict.outcome);
  Json& figures = json["figures"] = Json::object();
  for (const FigureKind* const kind : figure_kinds()) {
    std::vector<double> values;
    for (const RunRecord& run : head)
      if (const auto value = run.of(kind->name, "")) values.push_back(*value);
    if (values.empty()) continue;
    const Sample sample = sample_of(values);
    figures[std::string(kind->name)] = {{"mean", sample.mean},
                                        {"deviation", sample.deviation ? Json(*sample.deviation) : Json()},
                                        {"runs", sample.runs}};
  }
  return json;
}

Json to_bencher(const Verdict& verdict, std::string_view name) {
  Json json = Json::object();
  for (const FigureVerdict& figure : verdict.figures) {
    if (figure.missing) continue;
    const std::string benchmark =
        figure.rule.scope.empty() ? std::string(name) : fmt::format("{}: {}", name, figure.rule.scope);
    Json& metric = json[to_valid_utf8(benchmark)][std::string(figure.rule.figure->name)];
    metric["value"] = figure.head.mean;
    if (!figure.head.deviation) continue;
    metric["lower_value"] = figure.head.mean - *figure.head.deviation;
    metric["upper_value"] = figure.head.mean + *figure.head.deviation;
  }
  return json;
}

Result<std::string> append_to_otava(const std::string& before, const Verdict& verdict,
                                    const CheckStamp& stamp) {
  std::vector<std::string> names{"time", "commit"}, values{stamp.time, stamp.commit};
  for (const FigureVerdict& figure : verdict.figures) {
    names.push_back(figure.rule.name());
    values.push_back(figure.missing ? std::string() : fmt::format("{}", figure.head.mean));
  }
  const std::string heading = join_fields(names), line = join_fields(values);
  if (before.empty()) return heading + line;
  if (!before.starts_with(heading))
    return Error{"its columns are not those of this policy's figures: give another file"};
  return before + (before.ends_with('\n') ? "" : "\n") + line;
}

}  // namespace lockstep::analyzer

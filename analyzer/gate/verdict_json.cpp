// The verdict for programs.
#include <nlohmann/json.hpp>

#include "analyzer/gate/verdict_outputs.h"
#include "analyzer/gate/verdict_words.h"
#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json sample_to_json(const Sample& sample) {
  if (sample.runs == 0) return {};
  Json json;
  json["runs"] = sample.runs;
  json["mean"] = sample.mean;
  json["deviation"] = optional(sample.deviation);
  return json;
}

Json step_to_json(const std::optional<StepChange>& step) {
  if (!step) return {};
  Json json;
  json["base_ns"] = step->base_ns;
  json["head_ns"] = step->head_ns;
  Json& causes = json["causes"] = Json::array();
  for (const CauseChange& cause : step->causes)
    causes.push_back(
        {{"cause", to_string(cause.cause)}, {"base_ns", cause.base_ns}, {"head_ns", cause.head_ns}});
  return json;
}

}  // namespace

Json to_json(const Verdict& verdict, const VerdictContext& context) {
  Json json;
  json["schema"] = "lockstep.check/1";
  json["outcome"] = to_string(verdict.outcome);
  json["headline"] = to_valid_utf8(headline(verdict));
  json["policy"] = to_valid_utf8(context.policy);
  json["false_alarms"] = context.false_alarms;
  json["baseline"] = to_valid_utf8(context.baseline);
  Json& figures = json["figures"] = Json::array();
  for (const FigureVerdict& figure : verdict.figures) {
    Json one;
    one["name"] = std::string(figure.rule.figure->name);
    one["scope"] = to_valid_utf8(figure.rule.scope);
    one["unit"] = to_string(figure.rule.figure->unit);
    one["better"] = figure.rule.figure->direction == Direction::lower_is_better ? "lower" : "higher";
    one["state"] = state_text(figure);
    one["head"] = sample_to_json(figure.head);
    one["base"] = sample_to_json(figure.base);
    one["bound"] = optional(figure.rule.bound);
    one["limit"] = figure.has_limit() ? Json(figure.limit) : Json();
    one["chance"] = optional(figure.chance);
    one["runs_needed"] = optional(figure.runs_needed);
    one["reason"] = to_valid_utf8(reason_text(figure));
    figures.push_back(std::move(one));
  }
  json["step"] = step_to_json(verdict.step);
  Json& warnings = json["warnings"] = Json::array();
  for (const std::string& warning : verdict.warnings) warnings.push_back(to_valid_utf8(warning));
  return json;
}

}  // namespace lockstep::analyzer

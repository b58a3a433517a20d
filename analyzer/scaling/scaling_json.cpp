// A scaling study for programs.
#include <nlohmann/json.hpp>

#include "analyzer/report/unicode.h"
#include "analyzer/scaling/scaling_outputs.h"
#include "analyzer/scaling/scaling_words.h"

namespace lockstep::analyzer {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json estimate_to_json(const Estimate& estimate) {
  return {{"value", estimate.value}, {"low", optional(estimate.low)}, {"high", optional(estimate.high)}};
}

Json by_cause(const std::array<std::int64_t, kCauseCount>& ns) {
  Json json = Json::object();
  for (std::size_t cause = 0; cause < kCauseCount; ++cause)
    json[to_string(static_cast<Cause>(cause))] = ns[cause];
  return json;
}

Json point_to_json(const ScalePoint& point) {
  Json json;
  json["ranks"] = point.ranks;
  json["runs"] = Json::array();
  for (const std::string& path : point.paths) json["runs"].push_back(to_valid_utf8(path));
  json["step_ns"] = point.step_ns;
  json["ideal_ns"] = point.ideal_ns;
  json["loss_ns"] = point.total_loss_ns();
  json["efficiency"] = estimate_to_json(point.efficiency);
  json["efficiency_distributed"] =
      point.efficiency_distributed ? estimate_to_json(*point.efficiency_distributed) : Json();
  json["load_balance"] = optional(point.load_balance);
  json["communication_efficiency"] = optional(point.communication_efficiency);
  json["computation_scaling"] = optional(point.computation_scaling);
  json["causes_ns"] = by_cause(point.causes_ns);
  json["loss_by_cause_ns"] = by_cause(point.loss_ns);
  json["shared"] = to_valid_utf8(point.shared);
  return json;
}

}  // namespace

Json to_json(const Scaling& scaling) {
  Json json;
  json["schema"] = "lockstep.scale/1";
  json["headline"] = to_valid_utf8(headline(scaling));
  json["kind"] = to_string(scaling.kind);
  json["kind_is_guessed"] = scaling.kind_is_guessed;
  json["waits_known"] = scaling.waits_known;
  json["sizes"] = Json::array();
  for (const ScalePoint& point : scaling.points) json["sizes"].push_back(point_to_json(point));
  json["messages"] = Json::array();
  for (const MessageLaw& law : scaling.messages)
    json["messages"].push_back({{"operation", trace::to_string(law.operation)},
                                {"ranks", law.ranks},
                                {"alpha_ns", law.alpha_ns},
                                {"beta_ns_per_byte", law.beta_ns_per_byte},
                                {"sizes", law.sizes},
                                {"smallest_bytes", law.smallest_bytes},
                                {"largest_bytes", law.largest_bytes},
                                {"worst_error", law.worst_error}});
  json["law"] = scaling.law ? Json{{"contention", scaling.law->contention},
                                   {"coherency", scaling.law->coherency},
                                   {"worst_error", scaling.law->worst_error}}
                            : Json();
  json["remarks"] = Json::array();
  for (const std::string& remark : remarks(scaling)) json["remarks"].push_back(to_valid_utf8(remark));
  return json;
}

}  // namespace lockstep::analyzer

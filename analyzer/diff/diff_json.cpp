// A comparison for programs.
#include <nlohmann/json.hpp>

#include "analyzer/diff/diff_outputs.h"
#include "analyzer/diff/diff_words.h"
#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

using Json = nlohmann::ordered_json;

Json pair_to_json(const TimePair& pair) {
  return {{"a_ns", pair.a_ns}, {"b_ns", pair.b_ns}, {"change_ns", pair.change_ns()}};
}

template <class T>
Json optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

// The members of a pair, and how sure its change is.
Json sure_to_json(const TimePair& pair, const Spread& spread, std::size_t compared) {
  Json json = pair_to_json(pair);
  json["half_width_ns"] = optional(spread.half_width_ns());
  json["beyond_chance"] = spread.is_beyond_chance(compared);
  return json;
}

Json side_to_json(const DiffSide& side) {
  Json json;
  json["runs"] = Json::array();
  for (const std::string& path : side.paths) json["runs"].push_back(to_valid_utf8(path));
  json["world_size"] = side.world_size;
  json["steps"] = side.steps;
  json["failures"] = Json::array();
  for (const std::string& failure : side.failures) json["failures"].push_back(to_valid_utf8(failure));
  return json;
}

Json rank_to_json(const RankDiff& rank, std::size_t ranks) {
  Json json;
  json["rank"] = rank.rank;
  json["host_a"] = to_valid_utf8(rank.host_a);
  json["host_b"] = to_valid_utf8(rank.host_b);
  json["part"] = pair_to_json(rank.part);
  json["step"] = pair_to_json(rank.step);
  json["own"] = sure_to_json(rank.own, rank.own_spread, ranks);
  for (std::size_t cause = 0; cause < kCauseCount; ++cause)
    json["causes"][to_string(static_cast<Cause>(cause))] = pair_to_json(rank.causes[cause]);
  return json;
}

Json collective_to_json(const CollectiveDiff& part) {
  Json json;
  json["group"] = to_valid_utf8(part.key.group);
  json["operation"] = trace::to_string(part.key.operation);
  json["name"] = to_valid_utf8(part.key.name);
  json["position"] = part.key.position;
  json["in"] = to_string(part.presence);
  json["bytes_a"] = optional(part.bytes_a);
  json["bytes_b"] = optional(part.bytes_b);
  json["per_step_a"] = part.per_step_a;
  json["per_step_b"] = part.per_step_b;
  json["exposed"] = pair_to_json(part.time);
  json["transfer"] = pair_to_json(part.transfer);
  json["wait"] = pair_to_json(part.wait);
  return json;
}

template <class Parts, class ToJson>
Json list(const Parts& parts, ToJson to_json) {
  Json json = Json::array();
  for (const auto& part : parts) json.push_back(to_json(part));
  return json;
}

}  // namespace

Json to_json(const RunsDiff& diff, const std::vector<Suspect>& suspects) {
  Json json;
  json["schema"] = "lockstep.diff/1";
  json["headline"] = to_valid_utf8(headline(diff));
  json["a"] = side_to_json(diff.a);
  json["b"] = side_to_json(diff.b);
  json["spread_of"] = to_string(diff.spread.of);
  json["waits_known"] = diff.waits_known;
  json["ranks_left_out"] = diff.ranks_left_out;
  json["changed_ranks"] = diff.changed_ranks;
  json["their_cause"] = diff.their_cause ? Json(to_string(*diff.their_cause)) : Json();
  json["step"] = sure_to_json(diff.step, diff.spread, 1);
  Json& causes = json["causes"] = Json::object();
  for (const CauseDiff& cause : diff.causes)
    causes[to_string(cause.cause)] = sure_to_json(cause.time, cause.spread, diff.causes.size());
  json["ranks"] =
      list(diff.ranks, [&](const RankDiff& rank) { return rank_to_json(rank, diff.ranks.size()); });
  json["exposed_communication"] = pair_to_json(diff.collectives.whole);
  json["collectives"] = list(diff.collectives.parts, collective_to_json);
  json["groups"] = list(diff.groups, [](const GroupDiff& group) {
    Json one = {{"name", to_valid_utf8(group.name)}};
    one["exposed"] = pair_to_json(group.time);
    return one;
  });
  json["collectives_rest"] = pair_to_json(diff.collectives.rest);
  json["compute"] = pair_to_json(diff.layers.whole);
  json["layers"] = list(diff.layers.parts, [](const LayerDiff& layer) {
    Json one;
    one["layer"] = optional(layer.key.layer);
    one["part"] = to_valid_utf8(layer.key.part);
    one["pass"] = name_of_pass(layer.key.pass);
    one["in"] = to_string(layer.presence);
    one["compute"] = pair_to_json(layer.time);
    return one;
  });
  json["layers_rest"] = pair_to_json(diff.layers.rest);
  json["wall"] = pair_to_json(diff.phases.whole);
  Json& phases = json["phases"] = Json::object();
  for (const PhaseDiff& phase : diff.phases.parts) phases[to_string(phase.phase)] = pair_to_json(phase.time);
  json["suspects"] = list(suspects, [](const Suspect& suspect) {
    return Json{{"name", to_valid_utf8(suspect.name)},
                {"a", to_valid_utf8(suspect.a)},
                {"b", to_valid_utf8(suspect.b)}};
  });
  return json;
}

}  // namespace lockstep::analyzer

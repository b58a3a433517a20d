#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "analyzer/html/html.h"
#include "analyzer/report/palette.h"
#include "analyzer/report/text.h"
#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

using Json = nlohmann::ordered_json;

Json texts(const std::vector<std::string>& lines) {
  Json array = Json::array();
  for (const std::string& line : lines) array.push_back(to_valid_utf8(line));
  return array;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json colour(std::uint32_t rgb) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text = "#";
  for (int shift = 20; shift >= 0; shift -= 4) text += kDigits[(rgb >> shift) & 0xF];
  return text;
}

Json causes() {
  Json array = Json::array();
  for (const CauseStyle& style : kCauseStyles)
    array.push_back({{"key", to_string(style.cause)},
                     {"label", style.label},
                     {"light", colour(style.rgb_light)},
                     {"dark", colour(style.rgb_dark)}});
  return array;
}

// [window, nine causes, communication, overlap, exposed, waited]; null where they are not known.
Json measures(const Measures& measures) {
  if (!measures.known) return nullptr;
  Json array = Json::array({measures.window_ns});
  for (const std::int64_t ns : measures.partition.ns) array.push_back(ns);
  array.push_back(measures.communication_ns);
  array.push_back(measures.overlap_ns);
  array.push_back(measures.exposed_communication_ns);
  array.push_back(measures.barrier_wait_ns + measures.hidden_barrier_wait_ns + measures.p2p_wait_ns +
                  measures.hidden_p2p_wait_ns);
  return array;
}

Json ranks(const Report& report) {
  std::map<std::int32_t, const BlameReport*> blame;
  for (const BlameReport& one : report.blame) blame.emplace(one.rank, &one);
  Json array = Json::array();
  for (const RankReport& rank : report.ranks) {
    Json object{{"rank", rank.rank},
                {"host", to_valid_utf8(rank.host)},
                {"device", to_valid_utf8(rank.device)},
                {"all", measures(rank.measures)},
                {"clock", {rank.clock.offset_ns, rank.clock.uncertainty_ns, rank.clock.evidence}}};
    if (const auto found = blame.find(rank.rank); found != blame.end()) {
      object["blame"] = found->second->blame_ns;
      object["cause"] = to_valid_utf8(found->second->root_cause);
    }
    array.push_back(std::move(object));
  }
  return array;
}

// [index of the step, index of the rank, measures].
Json cells(const Report& report, const std::map<std::int32_t, std::size_t>& rank_index,
           std::vector<std::int64_t>& steps) {
  Json array = Json::array();
  for (const StepReport& step : report.steps) {
    if (steps.empty() || steps.back() != step.step) steps.push_back(step.step);
    array.push_back({steps.size() - 1, rank_index.at(step.rank), measures(step.measures)});
  }
  return array;
}

struct Collectives {
  Json list = Json::array();
  std::size_t left_out = 0;
};

Collectives collectives(const Report& report, const HtmlOptions& options,
                        const std::map<std::int32_t, std::size_t>& rank_index, Json& groups) {
  std::vector<std::size_t> order(report.collectives.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return report.collectives[a].wait_ns > report.collectives[b].wait_ns;
  });
  Collectives result;
  result.left_out = order.size() - std::min(order.size(), options.collectives);
  order.resize(order.size() - result.left_out);
  std::map<std::pair<std::string, std::vector<std::int32_t>>, std::size_t> group_index;
  for (std::size_t row = 0; row < order.size(); ++row) {
    const CollectiveReport& one = report.collectives[order[row]];
    const auto [group, fresh] =
        group_index.try_emplace({one.group_name, one.group_ranks}, group_index.size());
    if (fresh) groups.push_back({{"name", to_valid_utf8(one.group_name)}, {"ranks", one.group_ranks}});
    std::int64_t transfer = 0;
    for (const CollectiveRank& rank : one.ranks) transfer = std::max(transfer, rank.transfer_ns);
    Json entry{one.id,
               to_string(one.operation),
               group->second,
               or_null(one.step),
               or_null(one.bytes),
               one.wait_ns,
               transfer,
               or_null(one.last_arriver),
               one.last_arriver_margin_ns,
               or_null(one.busbw_wire_gbps),
               one.waits_known()};
    if (row < options.arrivals) {
      Nanoseconds first = one.ranks.empty() ? 0 : one.ranks.front().arrival_ns;
      for (const CollectiveRank& rank : one.ranks) first = std::min(first, rank.arrival_ns);
      Json arrivals = Json::array();
      for (const CollectiveRank& rank : one.ranks)
        arrivals.push_back(
            {rank_index.at(rank.rank), rank.arrival_ns - first, rank.wait_ns, rank.transfer_ns});
      entry.push_back(std::move(arrivals));
    }
    result.list.push_back(std::move(entry));
  }
  return result;
}

Json findings(const Report& report) {
  Json array = Json::array();
  for (const Finding& finding : report.findings)
    array.push_back({{"code", finding.code},
                     {"severity", finding.severity},
                     {"title", to_valid_utf8(finding.title)},
                     {"evidence", texts(finding.evidence)},
                     {"remedy", to_valid_utf8(finding.remedy)},
                     {"lost", finding.lost_ns},
                     {"share", finding.lost_share}});
  return array;
}

Json layer_pass(const std::optional<LayerPass>& pass) {
  return pass ? Json{pass->min_ns, pass->median_ns, pass->max_ns, pass->slowest_rank} : Json();
}

Json layers(const Report& report) {
  Json array = Json::array();
  for (const LayerReport& layer : report.layers)
    array.push_back({to_valid_utf8(layer.name), layer_pass(layer.forward), layer_pass(layer.backward),
                     layer_pass(layer.recompute)});
  return array;
}

Json group_operations(const Report& report) {
  Json array = Json::array();
  for (const GroupReport& group : report.groups) {
    for (const GroupOperation& operation : group.operations)
      array.push_back({to_valid_utf8(group.name), group.ranks.size(), to_string(operation.operation),
                       operation.count, or_null(operation.bytes), or_null(operation.wait_ns),
                       operation.transfer_ns, or_null(operation.exposed_ns),
                       or_null(operation.busbw_wire_gbps)});
  }
  return array;
}

// [quantity, scope, unit, measured, theory, formula].
Json theory(const Report& report) {
  Json array = Json::array();
  for (const TheoryReport& row : report.theory)
    array.push_back(
        {row.quantity, to_valid_utf8(row.scope), row.unit, or_null(row.measured), row.theory, row.formula});
  return array;
}

// [name, operations, waits, waited, not hidden, rank that waited longest, how long].
Json wait_states(const Report& report) {
  Json array = Json::array();
  for (const WaitStateReport& state : report.wait_states)
    array.push_back({title_of(state.state), state.operations, state.waits, state.wait_ns,
                     or_null(state.exposed_ns), state.worst_rank, state.worst_rank_ns});
  return array;
}

Json pipelines(const Report& report) {
  Json array = Json::array();
  for (const PipelineReport& pipeline : report.pipeline) {
    Json stages = Json::array();
    for (const PipelineStage& stage : pipeline.stages_detail)
      stages.push_back(
          {stage.stage, stage.rank, stage.compute_ns, stage.exposed_transfer_ns, stage.bubble_ns});
    array.push_back({{"group", to_valid_utf8(pipeline.group)},
                     {"schedule", pipeline.schedule},
                     {"stages", pipeline.stages},
                     {"microbatches", or_null(pipeline.microbatches)},
                     {"ratio", or_null(pipeline.bubble_ratio)},
                     {"ideal", or_null(pipeline.bubble_ratio_ideal)},
                     {"detail", std::move(stages)}});
  }
  return array;
}

Json warnings(const Report& report) {
  Json array = Json::array();
  for (const Warning& warning : report.warnings)
    array.push_back({warning.code, to_valid_utf8(warning.message)});
  return array;
}

}  // namespace

std::string html_data(const Report& report, const HtmlOptions& options) {
  TextOptions text;
  text.selection = options.selection;
  text.resolution_ns = options.resolution_ns;
  std::map<std::int32_t, std::size_t> rank_index;
  for (const RankReport& rank : report.ranks) rank_index.emplace(rank.rank, rank_index.size());
  std::vector<std::int64_t> steps;
  Json groups = Json::array();
  Json of_steps = cells(report, rank_index, steps);
  Collectives operations = collectives(report, options, rank_index, groups);
  Json document;
  document["path"] = to_valid_utf8(report.path);
  document["facts"] = texts(headline_facts(report, text));
  document["verdict"] = texts(verdict_lines(report));
  document["causes"] = causes();
  document["ranks"] = ranks(report);
  document["steps"] = steps;
  document["cells"] = std::move(of_steps);
  document["groups"] = std::move(groups);
  document["collectives"] = std::move(operations.list);
  document["collectives_left_out"] = operations.left_out;
  document["findings"] = findings(report);
  document["wait_states"] = wait_states(report);
  document["theory"] = theory(report);
  document["group_operations"] = group_operations(report);
  document["layers"] = layers(report);
  document["pipelines"] = pipelines(report);
  document["warnings"] = warnings(report);
  return document.dump();
}

}  // namespace lockstep::analyzer

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/html/data_collectives.h"
#include "analyzer/html/evidence.h"
#include "analyzer/html/group_numbers.h"
#include "analyzer/html/html.h"
#include "analyzer/report/account_spread.h"
#include "analyzer/report/all_clear.h"
#include "analyzer/report/measure_words.h"
#include "analyzer/report/palette.h"
#include "analyzer/report/shared_time.h"
#include "analyzer/report/text.h"
#include "analyzer/report/text_sections.h"
#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

using Json = nlohmann::ordered_json;

Json texts(const std::vector<std::string>& lines) {
  Json array = Json::array();
  for (const std::string& line : lines) array.push_back(to_valid_utf8(line));
  return array;
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

// [window, nine causes, communication, overlap, exposed, waited, of that exposed]; null where they are not
// known.
Json measures(const Measures& measures) {
  if (!measures.known) return nullptr;
  Json array = Json::array({measures.window_ns});
  for (const std::int64_t ns : measures.partition.ns) array.push_back(ns);
  array.push_back(measures.communication_ns);
  array.push_back(measures.overlap_ns);
  array.push_back(measures.exposed_communication_ns);
  const std::int64_t exposed_wait = measures.collective_wait_ns + measures.p2p_wait_ns;
  const std::int64_t hidden_wait = measures.hidden_collective_wait_ns + measures.hidden_p2p_wait_ns;
  array.push_back(measures.waits_known ? Json(exposed_wait + hidden_wait) : Json());
  array.push_back(measures.waits_known ? Json(exposed_wait) : Json());
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
                {"damaged", rank.damaged},
                {"clock", {rank.clock.offset_ns, rank.clock.uncertainty_ns, rank.clock.evidence}}};
    if (const auto found = blame.find(rank.rank); found != blame.end()) {
      object["blame"] = lateness_of(*found->second);
      object["scheduled"] = found->second->scheduled_ns;
      object["marked"] = is_marked(report, rank.rank);
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

// Indices of those of `steps` that are no steady training: what they take sets no scale.
Json left_out(const Report& report, const std::vector<std::int64_t>& steps) {
  Json array = Json::array();
  for (std::size_t index = 0; index < steps.size(); ++index)
    if (std::ranges::binary_search(report.not_steady, steps[index])) array.push_back(index);
  return array;
}

Json drawn(const DrawnEvidence& evidence, const Finding& finding, const ShownCollectives& collectives) {
  if (evidence.picture == nullptr) return nullptr;
  Json object{{"kind", evidence.picture->name}};
  if (finding.cause) object["cause"] = to_string(*finding.cause);
  if (evidence.data.collective) object["collective"] = collectives.row_of.at(*evidence.data.collective);
  object.update(evidence.data.members);
  return object;
}

// Of each row: what it is called, the operator that tells, time a step of the rank and of the others, and the
// difference in words.
Json parts(const ComparedParts& compared) {
  Json rows = Json::array();
  if (compared.steps <= 0) return {{"others", 0}, {"rows", std::move(rows)}};
  for (const ComparedPart& row : compared.rows)
    rows.push_back({to_valid_utf8(name_of(row, compared)),
                    row.module.empty() ? "" : to_valid_utf8(row.operation), row.own_ns / compared.steps,
                    row.others_ns / compared.steps, describe_difference(row, compared)});
  return {{"others", compared.others}, {"rows", std::move(rows)}};
}

// `evidence`: of each finding.
Json findings(const Report& report, const std::vector<DrawnEvidence>& evidence,
              const ShownCollectives& collectives) {
  Json array = Json::array();
  for (std::size_t index = 0; index < report.findings.size(); ++index) {
    const Finding& finding = report.findings[index];
    Json standings = Json::array();
    for (const Standing& standing : finding.standings)
      standings.push_back({standing.ranks, standing.waits, to_valid_utf8(standing.where), standing.known,
                           standing.elsewhere});
    std::vector<std::string> lines = finding.evidence;
    if (finding.place) lines.push_back(describe(*finding.place));
    array.push_back({{"code", finding.code},
                     {"severity", finding.severity},
                     {"title", to_valid_utf8(finding.title)},
                     {"evidence", texts(lines)},
                     {"remedy", to_valid_utf8(finding.remedy)},
                     {"lost", finding.lost_ns},
                     {"share", finding.lost_share},
                     {"of", of_what(finding.share)},
                     {"shared", describe_shared_time(report, finding)},
                     {"standings", std::move(standings)},
                     {"rank", finding.rank ? Json(*finding.rank) : Json(nullptr)},
                     {"parts", parts(finding.parts)},
                     {"drawn", drawn(evidence[index], finding, collectives)}});
  }
  return array;
}

// What each kind among the findings means, by its code: what `lockstep explain` says.
Json kinds(const Report& report) {
  Json object = Json::object();
  for (const Finding& finding : report.findings) {
    const FindingKind* const kind = find_finding_kind(finding.code);
    if (kind == nullptr) continue;
    Json parts = Json::array(), remedies = Json::array();
    for (const ExplanationPart& part : parts_of(*kind->explanation))
      parts.push_back({part.heading, part.text});
    for (const Remedy& remedy : kind->explanation->remedies) remedies.push_back({remedy.where, remedy.what});
    object[finding.code] = {{"title", kind->title},
                            {"meaning", kind->explanation->meaning},
                            {"parts", std::move(parts)},
                            {"remedies", std::move(remedies)}};
  }
  return object;
}

// [name, a microbatch's forward, backward and recomputation, all passes on the fastest and the slowest rank,
// which that is, ranks]: the columns of the text report.
Json layers(const Report& report) {
  Json array = Json::array();
  for (const LayerReport& layer : report.layers) {
    std::int64_t fastest = 0, slowest = 0;
    Json microbatch = Json::array();
    for (const std::optional<LayerPass>& pass : {layer.forward, layer.backward, layer.recompute}) {
      microbatch.push_back(pass ? Json(pass->microbatch_ns) : Json());
      fastest += pass ? pass->min_ns : 0;
      slowest += pass ? pass->max_ns : 0;
    }
    array.push_back({to_valid_utf8(layer_name(layer)), microbatch[0], microbatch[1], microbatch[2], fastest,
                     slowest, layer.slowest_rank, layer.ranks.size()});
  }
  return array;
}

Json group_operations(const Report& report, const GroupNumbers& groups) {
  Json array = Json::array();
  for (const GroupReport& group : report.groups) {
    for (const GroupOperation& operation : group.operations) {
      const std::optional<double>& sent = operation.wire_bytes_per_step_and_rank;
      array.push_back({groups.of(group.name, group.ranks), to_string(operation.operation), operation.count,
                       or_null(operation.wait_ns), operation.transfer_ns, or_null(operation.exposed_ns),
                       sent ? Json(std::llround(*sent)) : Json(), or_null(operation.busbw_wire_gbps)});
    }
  }
  return array;
}

// [group, operation, name, size, operations, mean wait, transfer, hidden, exposed transfer, exposed wait].
Json buckets(const Report& report, const GroupNumbers& groups) {
  constexpr std::size_t kMost = 256;  // a page is for people
  Json array = Json::array();
  for (const std::size_t index : costliest_buckets(report, kMost)) {
    const BucketReport& bucket = report.buckets[index];
    const auto mean = [&](std::optional<std::int64_t> ns) { return ns ? Json(bucket.mean(*ns)) : Json(); };
    array.push_back({groups.of(bucket.group_name, bucket.group_ranks), to_string(bucket.operation),
                     bucket_name(bucket), or_null(bucket.bytes), bucket.count, mean(bucket.wait_ns),
                     mean(bucket.transfer_ns), mean(bucket.hidden_ns), mean(bucket.exposed_transfer_ns),
                     mean(bucket.exposed_wait_ns)});
  }
  return array;
}

// [quantity, scope, unit, measured, theory, formula].
Json theory(const Report& report) {
  Json array = Json::array();
  for (const TheoryReport& row : report.theory)
    array.push_back({quantity_name(row.quantity), scope_text(row), unit_of(row.quantity),
                     or_null(row.measured), row.theory, formula_text(row.formula)});
  return array;
}

// [name, operations, waits, waited, exposed wait, rank that waited longest, how long].
Json wait_states(const Report& report) {
  Json array = Json::array();
  for (const WaitStateReport& state : report.wait_states)
    array.push_back({title_of(state.state), state.operations, state.waits, state.wait_ns,
                     or_null(state.exposed_ns), state.worst_rank, state.worst_rank_ns});
  return array;
}

// Sentences; [index, title, colour] of each way of spending time, in the order of a run's life; ns by index,
// of all ranks and of each; and over the ranks [index, least, its rank, median, most, its rank].
Json account(const Report& report) {
  std::vector<std::string> lines = account_lines(report);
  if (std::string steady = steady_line(report); !steady.empty()) lines.push_back(std::move(steady));
  Json ranks = Json::array();
  for (const RankAccount& rank : report.account.ranks) ranks.push_back({rank.rank, rank.spent.ns});
  Json spendings = Json::array();
  for (const Spending spending : kSpendingsByLife)
    spendings.push_back({spending, title_of(spending), colour(style_of(spending).rgb)});
  Json spread = Json::array();
  for (const SpendingSpread& one : spread_over_ranks(report.account))
    spread.push_back({one.spending, one.least_ns, one.least_rank, one.median_ns, one.most_ns, one.most_rank});
  return {{"lines", texts(lines)},
          {"spendings", std::move(spendings)},
          {"all", report.account.spent.ns},
          {"ranks", std::move(ranks)},
          {"spread", std::move(spread)}};
}

Json pipelines(const Report& report) {
  Json array = Json::array();
  for (const PipelineReport& pipeline : report.pipeline) {
    Json stages = Json::array();
    for (const PipelineStage& stage : pipeline.stages_detail)
      stages.push_back({stage.stage, stage.rank, stage.layers, stage.compute_ns, stage.exposed_transfer_ns,
                        stage.bubble_ns, or_null(stage.warm_up_ns), or_null(stage.steady_ns),
                        or_null(stage.cool_down_ns)});
    array.push_back({{"group", to_valid_utf8(pipeline.group)},
                     {"schedule", schedule_text(pipeline)},
                     {"ratio", or_null(pipeline.bubble_ratio)},
                     {"ideal", or_null(pipeline.bubble_ratio_ideal)},
                     {"region", pipeline.region_ns},
                     {"detail", std::move(stages)}});
  }
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
  Json of_steps = cells(report, rank_index, steps);
  const GroupNumbers groups(report);
  std::vector<DrawnEvidence> evidence;
  for (const Finding& finding : report.findings) evidence.push_back(evidence_of(finding, report, groups));
  const ShownCollectives shown = shown_collectives(report, evidence, options);
  Json document;
  document["path"] = to_valid_utf8(report.path);
  document["facts"] = texts(headline_facts(report, text));
  document["account"] = account(report);
  document["verdict"] = texts(verdict_lines(report));
  document["world_size"] = report.world_size;
  document["causes"] = causes();
  document["findings"] = findings(report, evidence, shown);
  document["kinds"] = kinds(report);
  const std::optional<NoAllClear> unknown = why_no_all_clear(report);
  document["no_all_clear"] = unknown ? Json(unknown->sentence()) : Json();
  document["ranks"] = ranks(report);
  document["waits_blurred"] = report.waits_blurred_ns > 0;
  document["efficiency"] = texts(efficiency_lines(report));
  document["steps"] = steps;
  document["left_out"] = left_out(report, steps);
  document["steady_only"] = report.steady && !report.steady->left_out.empty();
  document["cells"] = std::move(of_steps);
  document["pipelines"] = pipelines(report);
  document["groups"] = groups.to_json();
  document["collectives"] = collectives_json(report, shown, groups);
  document["collectives_left_out"] = report.collectives.size() - shown.order.size();
  document["wait_states"] = wait_states(report);
  document["group_operations"] = group_operations(report, groups);
  document["buckets"] = buckets(report, groups);
  document["buckets_left_out"] = report.buckets.size() - document["buckets"].size();
  document["theory"] = theory(report);
  document["layers"] = layers(report);
  document["unknown"] = texts(unknown_lines(report));
  return document.dump();
}

}  // namespace lockstep::analyzer

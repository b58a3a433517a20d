#include "analyzer/report/json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "analyzer/report/absences.h"
#include "analyzer/report/exposure.h"
#include "analyzer/report/json_account.h"
#include "analyzer/report/json_findings.h"
#include "analyzer/report/json_measures.h"
#include "analyzer/report/measure_words.h"
#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

using Json = nlohmann::ordered_json;

// Counts the strings that had to be repaired, so that the document can say so.
class Writer {
 public:
  explicit Writer(std::ostream& out) : out_(out) {}

  Json text(const std::string& value) {
    if (is_valid_utf8(value)) return value;
    ++repaired_;
    return to_valid_utf8(value);
  }
  Json texts(const std::vector<std::string>& values) {
    Json array = Json::array();
    for (const std::string& value : values) array.push_back(text(value));
    return array;
  }
  std::size_t repaired() const { return repaired_; }

  void member(const char* key, const Json& value) {
    out_ << separator() << Json(key).dump() << ": " << value.dump();
  }

  template <class Items, class ToJson>
  void array(const char* key, const Items& items, const ToJson& to_json) {
    out_ << separator() << Json(key).dump() << ": [";
    const char* comma = "\n";
    for (const auto& item : items) {
      out_ << comma << "  " << to_json(item).dump();
      comma = ",\n";
      if (!out_) return;
    }
    out_ << "]";
  }

 private:
  const char* separator() {
    const char* text = first_ ? "" : ",\n";
    first_ = false;
    return text;
  }

  std::ostream& out_;
  std::size_t repaired_ = 0;
  bool first_ = true;
};

Json run_to_json(const Report& report, Writer& writer) {
  Json run;
  run["path"] = writer.text(report.path);
  run["origin_ns"] = optional(report.origin_ns);
  run["sources"] = writer.texts(report.sources);
  run["world_size"] = report.world_size;
  run["ranks_present"] = report.ranks_present;
  run["ranks_missing"] = report.ranks_missing;
  run["steps"] = report.steps_present;
  run["unmatched"] = report.unmatched;
  return run;
}

Json rank_to_json(const RankReport& rank, Writer& writer) {
  Json object;
  object["rank"] = rank.rank;
  object["host"] = writer.text(rank.host);
  object["device"] = writer.text(rank.device);
  object["begin_ns"] = rank.begin_ns;
  object["end_ns"] = rank.end_ns;
  add_measures(object, rank.measures);
  object["activities"] = {{"compute", rank.activities.compute},
                          {"collective", rank.activities.collective},
                          {"p2p", rank.activities.p2p},
                          {"copy", rank.activities.copy}};
  const std::optional<OverlapPrice>& price = rank.overlap_price;
  object["compute_inflation"] = price ? optional(std::optional(price->inflation())) : Json(nullptr);
  object["overlap_price_ns"] = price ? Json(price->price_ns()) : Json(nullptr);
  object["overlap_price_of"] = price ? Json{{"activities", price->activities},
                                            {"under_communication_ns", price->under_ns},
                                            {"alone_ns", price->alone_ns}}
                                     : Json(nullptr);
  object["dropped_events"] = rank.dropped_events;
  object["damaged"] = rank.damaged;
  // Of a rank without times nobody knows what its clock says.
  const auto of_clock = [&rank](const auto& value) {
    return rank.clock.evidence.empty() ? Json(nullptr) : Json(value);
  };
  object["clock"] = {{"offset_ns", of_clock(rank.clock.offset_ns)},
                     {"uncertainty_ns", of_clock(rank.clock.uncertainty_ns)},
                     {"drift_ppm", of_clock(rank.clock.drift * 1e6)},
                     {"evidence", writer.text(rank.clock.evidence)}};
  return object;
}

Json step_to_json(const StepReport& step) {
  Json object{{"step", step.step}, {"rank", step.rank}, {"begin_ns", step.begin_ns}, {"end_ns", step.end_ns}};
  add_measures(object, step.measures);
  object["window_ns"] = step.measures.window_ns;  // a step has a length, be it zero
  return object;
}

Json collective_to_json(const CollectiveReport& c, Writer& writer) {
  Json object;
  object["id"] = c.id;
  object["step"] = optional(c.step);
  object["operation"] = trace::to_string(c.operation);
  object["name"] = c.name.empty() ? Json(nullptr) : writer.text(c.name);
  object["group"] = {{"name", writer.text(c.group_name)}, {"ranks", c.group_ranks}};
  object["sequence"] = optional(c.sequence);
  object["bytes"] = optional(c.bytes);
  object["dtype"] = trace::to_string(c.data_type);
  object["evidence"] = writer.text(c.evidence);
  object["partial"] = c.partial;
  object["unfinished"] = c.unfinished;
  object["last_arriver"] = optional(c.last_arriver);
  object["last_arriver_margin_ns"] = optional(c.last_arriver_margin_ns);
  object["algbw_gbps"] = optional(c.algbw_gbps);
  object["busbw_gbps"] = optional(c.busbw_gbps);
  object["busbw_wire_gbps"] = optional(c.busbw_wire_gbps);
  const bool known = c.waits_known();
  object["wait_ns"] = known ? Json(c.wait_ns) : Json(nullptr);
  Json ranks = Json::array();
  for (const CollectiveRank& r : c.ranks) {
    ranks.push_back({{"rank", r.rank},
                     {"arrival_ns", r.arrival_ns},
                     {"end_ns", r.end_ns},
                     {"wait_ns", known ? Json(r.wait_ns) : Json(nullptr)},
                     {"transfer_ns", r.transfer_ns},
                     {"hidden_ns", known && r.hidden_known ? Json(r.hidden_ns) : Json(nullptr)}});
  }
  object["ranks"] = std::move(ranks);
  return object;
}

Json wait_state_to_json(const WaitStateReport& state) {
  return {{"state", to_string(state.state)},
          {"operations", state.operations},
          {"waits", state.waits},
          {"wait_ns", state.wait_ns},
          {"exposed_ns", optional(state.exposed_ns)},
          {"worst_rank", state.worst_rank},
          {"worst_rank_wait_ns", state.worst_rank_ns}};
}

Json pipeline_to_json(const PipelineReport& p, Writer& writer) {
  const bool known = p.bubble_ratio.has_value();
  Json object;
  object["group"] = writer.text(p.group);
  object["stages"] = p.stages;
  object["microbatches"] = optional(p.microbatches);
  object["chunks"] = p.chunks;
  object["schedule"] = to_string(p.schedule);
  object["bubble_ratio"] = optional(p.bubble_ratio);
  object["bubble_ratio_ideal"] = optional(p.bubble_ratio_ideal);
  object["bubble_ns"] = known ? Json(p.bubble_ns) : Json(nullptr);
  object["region_ns"] = p.region_ns;
  object["steps"] = p.steps;
  object["region"] = p.passes_known ? "passes" : "messages";
  object["reason"] =
      p.reason.code == PipelineReason::Code::none ? Json(nullptr) : Json(reason_text(p.reason));
  Json stages = Json::array();
  for (const PipelineStage& s : p.stages_detail) {
    stages.push_back({{"stage", s.stage},
                      {"rank", s.rank},
                      {"layers", s.layers},
                      {"forward_ns", s.forward_ns},
                      {"backward_ns", s.backward_ns},
                      {"recompute_ns", s.recompute_ns},
                      {"compute_ns", s.compute_ns},
                      {"exposed_transfer_ns", s.exposed_transfer_ns},
                      {"bubble_ns", s.bubble_ns},
                      {"warm_up_ns", optional(s.warm_up_ns)},
                      {"steady_ns", optional(s.steady_ns)},
                      {"cool_down_ns", optional(s.cool_down_ns)}});
  }
  object["stages_detail"] = std::move(stages);
  return object;
}

Json group_to_json(const GroupReport& group, Writer& writer) {
  Json operations = Json::array();
  for (const GroupOperation& o : group.operations) {
    operations.push_back({{"operation", trace::to_string(o.operation)},
                          {"count", o.count},
                          {"bytes", optional(o.bytes)},
                          {"bytes_per_step_and_rank", optional(o.bytes_per_step_and_rank)},
                          {"wire_bytes_per_step_and_rank", optional(o.wire_bytes_per_step_and_rank)},
                          {"wait_ns", optional(o.wait_ns)},
                          {"transfer_ns", o.transfer_ns},
                          {"exposed_ns", optional(o.exposed_ns)},
                          {"busbw_gbps", optional(o.busbw_gbps)},
                          {"busbw_wire_gbps", optional(o.busbw_wire_gbps)}});
  }
  Json object;
  object["name"] = writer.text(group.name);
  object["ranks"] = group.ranks;
  object["operations"] = std::move(operations);
  return object;
}

Json bucket_to_json(const BucketReport& bucket, Writer& writer) {
  return {{"group", {{"name", writer.text(bucket.group_name)}, {"ranks", bucket.group_ranks}}},
          {"operation", trace::to_string(bucket.operation)},
          {"name", bucket.name.empty() ? Json(nullptr) : writer.text(bucket.name)},
          {"position", bucket.position},
          {"steps", bucket.steps},
          {"count", bucket.count},
          {"records", bucket.records},
          {"bytes", optional(bucket.bytes)},
          {"transfer_ns", bucket.transfer_ns},
          {"wait_ns", optional(bucket.wait_ns)},
          {"hidden_ns", optional(bucket.hidden_ns)},
          {"exposed_transfer_ns", optional(bucket.exposed_transfer_ns)},
          {"exposed_wait_ns", optional(bucket.exposed_wait_ns)}};
}

Json layer_to_json(const LayerReport& layer, Writer& writer) {
  const auto pass = [](const std::optional<LayerPass>& p) -> Json {
    if (!p) return nullptr;
    return {{"min_ns", p->min_ns},
            {"median_ns", p->median_ns},
            {"max_ns", p->max_ns},
            {"slowest_rank", p->slowest_rank},
            {"microbatch_ns", p->microbatch_ns}};
  };
  Json object;
  object["layer"] = optional(layer.layer);
  object["name"] = writer.text(layer_name(layer));
  object["ranks"] = layer.ranks;
  object["forward"] = pass(layer.forward);
  object["backward"] = pass(layer.backward);
  object["recompute"] = pass(layer.recompute);
  object["slowest_rank"] = layer.slowest_rank;
  return object;
}

Json counter_to_json(const CounterReport& counter, Writer& writer) {
  Json object;
  object["name"] = writer.text(counter.name);
  object["rank"] = counter.rank;
  object["points"] = counter.points;
  object["min"] = counter.min;
  object["max"] = counter.max;
  object["last"] = counter.last;
  object["per_step"] = nullptr;
  for (const CounterStep& step : counter.per_step)
    object["per_step"].push_back({{"step", step.step}, {"amount", step.amount}});
  return object;
}

Json warning_to_json(const Warning& warning, Writer& writer) {
  Json object{{"code", writer.text(warning.code)}, {"message", writer.text(warning.message)}};
  if (warning.rank != kNoRank) object["rank"] = warning.rank;
  return object;
}

Json lateness_to_json(const LatenessReport& lateness) {
  Json ranks = Json::array();
  for (const RankLateness& rank : lateness.ranks) {
    ranks.push_back(
        {{"rank", rank.rank},
         {"mean_ns", rank.mean_ns},
         {"share", optional(std::optional(rank.share))},
         {"movement_ns", rank.movement_ns},
         {"clock_error_ns", rank.clock_error_ns},
         {"chance", optional(std::optional(rank.chance))},
         {"is_late", rank.is_late},
         {"cause", rank.cause ? Json(to_string(*rank.cause)) : Json(nullptr)},
         {"cause_ns", rank.cause ? Json(rank.cause_ns) : Json(nullptr)},
         {"others_ns", rank.cause ? Json(rank.others_ns) : Json(nullptr)},
         {"accused_by", rank.accused_by.empty() ? Json(nullptr) : Json(rank.accused_by)},
         {"not_accused_because",
          rank.not_accused_because ? Json(to_string(*rank.not_accused_because)) : Json(nullptr)}});
  }
  const bool known = !lateness.ranks.empty();
  return {{"can_tell", lateness.can_tell},
          {"steps", lateness.steps},
          {"steps_needed", lateness.steps_needed},
          {"steps_to_tell", known ? Json(lateness.steps_to_tell) : Json(nullptr)},
          {"step_ns", known ? Json(lateness.step_ns) : Json(nullptr)},
          {"waiting_ns", known ? Json(lateness.waiting_ns) : Json(nullptr)},
          {"ranks", std::move(ranks)}};
}

Json finding_to_json(const Finding& finding, Writer& writer) {
  return {
      {"code", writer.text(finding.code)},
      {"severity", writer.text(finding.severity)},
      {"title", writer.text(finding.title)},
      {"evidence", writer.texts(finding.evidence)},
      {"remedy", writer.text(finding.remedy)},
      {"accuses", finding.accuses == Accused::nobody ? Json(nullptr) : Json(to_string(finding.accuses))},
      {"rank", optional(finding.rank)},
      {"reason", finding.reason.empty() ? Json(nullptr) : writer.text(finding.reason)},
      {"place", place_to_json(finding.place)},
      {"cause", finding.cause ? Json(to_string(*finding.cause)) : Json(nullptr)},
      {"lost_ns", finding.lost_ns},
      {"lost_share", optional(std::optional<double>(finding.lost_share))},
      {"parts", parts_to_json(finding.parts, [&](const std::string& name) { return writer.text(name); })}};
}

}  // namespace

void write_json(const Report& report, std::ostream& out) {
  Writer writer(out);
  out << "{";
  writer.member("schema", kReportSchema);
  writer.member("run", run_to_json(report, writer));
  writer.member("account", account_to_json(report.account));
  Json steady = steady_to_json(report.steady);
  if (report.steady) {
    for (const RankReport& rank : report.steady->ranks) steady["ranks"].push_back(rank_to_json(rank, writer));
  }
  writer.member("steady", steady);
  writer.array("ranks", report.ranks, [&](const RankReport& rank) { return rank_to_json(rank, writer); });
  writer.array("steps", report.steps, step_to_json);
  writer.array("collectives", report.collectives,
               [&](const CollectiveReport& collective) { return collective_to_json(collective, writer); });
  writer.array("wait_states", report.wait_states, wait_state_to_json);
  writer.array("groups", report.groups,
               [&](const GroupReport& group) { return group_to_json(group, writer); });
  writer.array("buckets", report.buckets,
               [&](const BucketReport& bucket) { return bucket_to_json(bucket, writer); });
  writer.array("pipeline", report.pipeline,
               [&](const PipelineReport& pipeline) { return pipeline_to_json(pipeline, writer); });
  writer.array("layers", report.layers,
               [&](const LayerReport& layer) { return layer_to_json(layer, writer); });
  writer.array("counters", report.counters,
               [&](const CounterReport& counter) { return counter_to_json(counter, writer); });
  writer.array("theory", report.theory, theory_to_json);
  writer.array("blame", report.blame, [&](const BlameReport& b) {
    return Json{{"rank", b.rank},
                {"blame_ns", b.blame_ns},
                {"exposed_ns", is_exposure_known(report, b) ? Json(b.exposed_ns) : Json(nullptr)},
                {"collectives", b.collectives},
                {"partial", b.partial},
                {"root_cause", b.root_cause.empty() ? Json(nullptr) : writer.text(b.root_cause)},
                {"persistent", optional(b.persistent)},
                {"scheduled_ns", b.scheduled_ns}};
  });
  writer.member("lateness", lateness_to_json(report.lateness));
  const bool known = all_known(report);
  writer.member(
      "efficiency",
      {{"load_balance", optional(report.efficiency.load_balance)},
       {"communication", optional(report.efficiency.communication)},
       {"parallel", optional(report.efficiency.parallel)},
       // Times are integers in this document; the ratios above are of the unrounded mean.
       {"mean_compute_ns", known ? Json(std::llround(report.efficiency.mean_compute_ns)) : Json(nullptr)},
       {"max_compute_ns", known ? Json(report.efficiency.max_compute_ns) : Json(nullptr)},
       {"window_ns", known ? Json(report.efficiency.window_ns) : Json(nullptr)}});
  writer.array("findings", report.findings,
               [&](const Finding& finding) { return finding_to_json(finding, writer); });

  // Last, because writing the rest finds out which names needed repair.
  std::vector<Warning> warnings = report.warnings;
  for (Warning& warning : explain_absences(report)) warnings.push_back(std::move(warning));
  Writer counter(out);
  for (const Warning& warning : report.warnings) warning_to_json(warning, counter);
  if (const std::size_t repaired = writer.repaired() + counter.repaired(); repaired > 0) {
    warnings.push_back(
        {"invalid_utf8",
         fmt::format("{} strings of this report were not UTF-8; each wrong byte is written as U+FFFD",
                     repaired),
         kNoRank});
  }
  writer.array("warnings", warnings,
               [&](const Warning& warning) { return warning_to_json(warning, writer); });
  out << "}\n";
}

std::string to_json(const Report& report) {
  std::ostringstream out;
  write_json(report, out);
  return out.str();
}

}  // namespace lockstep::analyzer

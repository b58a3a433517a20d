// The document against its definition in docs/metrics.md: names, types, order of magnitude of nothing,
// absence.
#include "analyzer/report/json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "analyzer/report/measure_fields.h"
#include "analyzer/report/sample_reports.h"

namespace lockstep::analyzer {
namespace {

using nlohmann::json;

std::set<std::string> keys(const json& object) {
  std::set<std::string> names;
  for (const auto& item : object.items()) names.insert(item.key());
  return names;
}

void expect_keys(const json& object, const std::set<std::string>& required) {
  const std::set<std::string> present = keys(object);
  for (const std::string& name : required)
    EXPECT_TRUE(present.contains(name)) << name << " is missing in " << object;
}

// Names that programs know. What was added since is in the list of measures.
const std::set<std::string> kMeasures{"window_ns",
                                      "compute_ns",
                                      "communication_ns",
                                      "overlap_ns",
                                      "exposed_communication_ns",
                                      "overlap_ratio",
                                      "overlap_ratio_per_kernel",
                                      "collective_wait_ns",
                                      "hidden_collective_wait_ns",
                                      "p2p_wait_ns",
                                      "hidden_p2p_wait_ns",
                                      "unclassified_ns",
                                      "off_cpu_ns",
                                      "run_queue_ns",
                                      "on_core_ns",
                                      "partition"};
const std::set<std::string> kCauses{"compute",         "transfer", "barrier_wait",
                                    "pipeline_bubble", "copy",     "data_wait",
                                    "host_bound",      "queued",   "other"};

TEST(ReportJson, HasEveryNameOfTheSchema) {
  Report report = small_report();
  report.pipeline = {{"pp", 2, 4, 1, Schedule::one_forward_one_backward, 0.25, 0.2}};
  report.pipeline[0].stages_detail = {PipelineStage{}};
  report.groups = {{"dp", {0, 1}, {GroupOperation{}}}};
  report.layers = {LayerReport{}};
  report.layers[0].forward = LayerPass{1, 2, 3, 0, 0, 1};
  report.counters = {{"memory", 0, 3, 1, 2, 1.5, {{7, 2.5}}}};
  report.lateness.ranks = {{.rank = 0, .is_late = true, .not_accused_because = NotAccused::cores_shared}};
  const json document = json::parse(to_json(report));
  EXPECT_EQ(document["schema"], "lockstep.report/2");
  expect_keys(document, {"schema", "run", "account", "steady", "warnings", "ranks", "steps", "collectives",
                         "pipeline", "blame", "efficiency", "findings"});
  expect_keys(document["groups"][0], {"name", "ranks", "operations"});
  expect_keys(document["groups"][0]["operations"][0],
              {"operation", "count", "bytes", "bytes_per_step_and_rank", "wire_bytes_per_step_and_rank",
               "wait_ns", "transfer_ns", "exposed_ns", "busbw_gbps", "busbw_wire_gbps"});
  EXPECT_TRUE(document["groups"][0]["operations"][0]["bytes"].is_null());
  ASSERT_EQ(document["buckets"].size(), 2u);
  EXPECT_EQ(document["buckets"][0], json::parse(R"({"group": {"name": "default_pg", "ranks": [0, 1, 2, 3]},
      "operation": "all_reduce", "name": null, "position": 0, "steps": 1, "count": 1, "records": 3,
      "bytes": 4000000, "transfer_ns": 3000000, "wait_ns": 7000000, "hidden_ns": 2000000,
      "exposed_transfer_ns": 1000000, "exposed_wait_ns": 7000000})"));
  EXPECT_EQ(document["buckets"][1]["name"], "layer 3");
  EXPECT_TRUE(document["buckets"][1]["bytes"].is_null());
  expect_keys(document["pipeline"][0],
              {"group", "stages", "microbatches", "chunks", "schedule", "bubble_ratio", "bubble_ratio_ideal",
               "bubble_ns", "region_ns", "steps", "region", "reason", "stages_detail"});
  expect_keys(document["pipeline"][0]["stages_detail"][0],
              {"stage", "rank", "layers", "forward_ns", "backward_ns", "recompute_ns", "compute_ns",
               "exposed_transfer_ns", "bubble_ns", "warm_up_ns", "steady_ns", "cool_down_ns"});
  expect_keys(document["layers"][0],
              {"layer", "name", "ranks", "forward", "backward", "recompute", "slowest_rank"});
  EXPECT_TRUE(document["layers"][0]["layer"].is_null());
  EXPECT_TRUE(document["layers"][0]["backward"].is_null());
  EXPECT_EQ(document["layers"][0]["forward"]["max_ns"], 3);
  EXPECT_EQ(document["counters"][0], json::parse(R"({"name": "memory", "rank": 0, "points": 3, "min": 1.0,
                                                    "max": 2.0, "last": 1.5,
                                                    "per_step": [{"step": 7, "amount": 2.5}]})"));
  expect_keys(document["run"], {"path", "origin_ns", "sources", "world_size", "ranks_present",
                                "ranks_missing", "steps", "unmatched"});
  ASSERT_EQ(document["ranks"].size(), 3u);
  for (const json& rank : document["ranks"]) {
    expect_keys(rank, kMeasures);
    for (const MeasureField& field : measure_fields()) EXPECT_TRUE(rank.contains(field.key)) << field.key;
    expect_keys(rank, {"rank", "host", "device", "dropped_events", "clock"});
    expect_keys(rank["clock"], {"offset_ns", "uncertainty_ns", "drift_ppm", "evidence"});
    EXPECT_EQ(keys(rank["partition"]), kCauses);  // exactly: they sum to the window
  }
  ASSERT_EQ(document["steps"].size(), 6u);
  for (const json& step : document["steps"]) {
    expect_keys(step, kMeasures);
    expect_keys(step, {"step", "rank", "begin_ns", "end_ns"});
    EXPECT_EQ(keys(step["partition"]), kCauses);
  }
  ASSERT_EQ(document["collectives"].size(), 2u);
  EXPECT_EQ(document["collectives"][0]["last_arriver_margin_ns"], 3'000'000);
  // Nobody is named: there is no margin either.
  EXPECT_TRUE(document["collectives"][1]["last_arriver"].is_null());
  EXPECT_TRUE(document["collectives"][1]["last_arriver_margin_ns"].is_null());
  for (const json& collective : document["collectives"]) {
    expect_keys(collective, {"id", "step", "operation", "group", "sequence", "bytes", "dtype", "evidence",
                             "partial", "unfinished", "last_arriver", "last_arriver_margin_ns", "algbw_gbps",
                             "busbw_gbps", "busbw_wire_gbps", "ranks"});
    expect_keys(collective["group"], {"name", "ranks"});
    for (const json& rank : collective["ranks"]) {
      expect_keys(rank, {"rank", "arrival_ns", "end_ns", "wait_ns", "transfer_ns", "hidden_ns"});
    }
  }
  expect_keys(document["pipeline"][0], {"group", "stages", "microbatches", "chunks", "schedule",
                                        "bubble_ratio", "bubble_ratio_ideal"});
  expect_keys(document["blame"][0], {"rank", "blame_ns", "root_cause", "persistent"});
  ASSERT_FALSE(document["lateness"]["ranks"].empty());
  expect_keys(document["lateness"]["ranks"][0],
              {"rank", "mean_ns", "share", "movement_ns", "chance", "is_late", "cause", "cause_ns",
               "others_ns", "accused_by", "not_accused_because"});
  EXPECT_TRUE(document["lateness"]["ranks"][0]["accused_by"].is_null());
  EXPECT_EQ(document["lateness"]["ranks"][0]["not_accused_because"], "cores_shared");
  expect_keys(document["efficiency"], {"load_balance", "communication", "parallel", "mean_compute_ns",
                                       "max_compute_ns", "window_ns"});
  expect_keys(document["findings"][0],
              {"code", "severity", "title", "evidence", "remedy", "accuses", "lost_ns", "lost_share"});
}

TEST(ReportJson, HasTheTableOfWhereARankComputesLonger) {
  Report report = small_report();
  EXPECT_TRUE(json::parse(to_json(report))["findings"][0]["parts"].is_null());
  report.findings[0].parts = {
      1000,
      3,
      {{"layers.7.mlp", "aten::mm", false, 5'000'000, 2'000'000}, {"", "", true, 30'000'000, 31'000'000}}};
  EXPECT_EQ(json::parse(to_json(report))["findings"][0]["parts"], json::parse(R"({
    "steps": 1000, "others": 3, "rows": [
      {"module": "layers.7.mlp", "operation": "aten::mm", "is_rest": false, "own_ns": 5000000, "others_ns": 2000000},
      {"module": null, "operation": null, "is_rest": true, "own_ns": 30000000, "others_ns": 31000000}]})"));
}

const std::set<std::string> kSpendings{"not_recorded",  "compilation", "checkpoint", "evaluation",
                                       "after_failure", "start_up",    "warm_up",    "steady",
                                       "shutdown",      "other"};

TEST(ReportJson, HasTheRunsAccount) {
  Report report = small_report();
  EXPECT_TRUE(json::parse(to_json(report))["account"].is_null());
  report.account = account_of_ranks(2);
  report.account.begin_ns = -5;
  report.account.goodput = 0.75;
  report.account.ranks[1].checkpoint_beside_ns = 17;
  const json account = json::parse(to_json(report))["account"];
  EXPECT_EQ(keys(account),
            (std::set<std::string>{"begin_ns", "wall_ns", "goodput", "late_start", "spent_ns", "ranks"}));
  EXPECT_TRUE(account["late_start"].is_null());
  report.account.late_start = LateStart{1, 5'000'000'000};
  EXPECT_EQ(json::parse(to_json(report))["account"]["late_start"],
            json::parse(R"({"rank": 1, "waited_ns": 5000000000})"));
  EXPECT_EQ(account["begin_ns"], -5);
  EXPECT_EQ(account["wall_ns"], report.account.wall_ns);
  EXPECT_EQ(account["goodput"], 0.75);
  EXPECT_EQ(keys(account["spent_ns"]), kSpendings);  // exactly: they sum to the wall time
  ASSERT_EQ(account["ranks"].size(), 2u);
  std::int64_t all = 0;
  for (const auto& spent : account["spent_ns"]) all += spent.get<std::int64_t>();
  EXPECT_EQ(all, 2 * report.account.wall_ns);
  for (std::size_t i = 0; i < 2; ++i) {
    const json& rank = account["ranks"][i];
    EXPECT_EQ(keys(rank), (std::set<std::string>{"rank", "spent_ns", "checkpoint_beside_ns"}));
    EXPECT_EQ(rank["rank"], i);
    EXPECT_EQ(keys(rank["spent_ns"]), kSpendings);
    EXPECT_EQ(rank["spent_ns"]["start_up"], report.account.ranks[i].spent[Spending::start_up]);
    EXPECT_EQ(rank["spent_ns"]["steady"], report.account.ranks[i].spent[Spending::steady]);
    EXPECT_EQ(rank["spent_ns"]["checkpoint"], report.account.ranks[i].spent[Spending::checkpoint]);
  }
  EXPECT_EQ(account["ranks"][1]["checkpoint_beside_ns"], 17);
  report.account.goodput.reset();
  EXPECT_TRUE(json::parse(to_json(report))["account"]["goodput"].is_null());
}

TEST(ReportJson, HasSteadyTraining) {
  Report report = small_report();
  EXPECT_TRUE(json::parse(to_json(report))["steady"].is_null());
  report.steady = SteadyReport{{2}, {{1, 1, "checkpoint", 500, 300, 2}, {3, 4, "warm-up", 70}}, report.ranks};
  report.steady->ranks[1].measures.window_ns = 777;
  const json steady = json::parse(to_json(report))["steady"];
  EXPECT_EQ(keys(steady), (std::set<std::string>{"steps", "left_out", "ranks"}));
  EXPECT_EQ(steady["steps"], json::array({2}));
  EXPECT_EQ(steady["left_out"], json::parse(R"([
      {"first": 1, "last": 1, "reason": "checkpoint", "window_ns": 500, "reason_ns": 300, "rank": 2},
      {"first": 3, "last": 4, "reason": "warm-up", "window_ns": 70, "reason_ns": 0, "rank": null}])"));
  ASSERT_EQ(steady["ranks"].size(), 3u);
  for (const json& rank : steady["ranks"]) {
    expect_keys(rank, kMeasures);
    expect_keys(rank, {"rank", "host", "device", "dropped_events", "clock"});
    EXPECT_EQ(keys(rank["partition"]), kCauses);
  }
  EXPECT_EQ(steady["ranks"][1]["window_ns"], 777);
}

TEST(ReportJson, CarriesTheValues) {
  Report report = small_report();
  report.collectives[1].unfinished = true;
  const json document = json::parse(to_json(report));
  EXPECT_EQ(document["collectives"][1]["unfinished"], true);
  EXPECT_EQ(document["run"]["path"], "runs/sm\x1b[31mall");
  EXPECT_EQ(document["run"]["origin_ns"].get<std::int64_t>(), 1'700'000'000'000'000'000);
  EXPECT_EQ(document["run"]["ranks_missing"], json::array({3}));
  const json& rank = document["ranks"][2];
  EXPECT_EQ(rank["host"], "node-b");
  EXPECT_EQ(rank["partition"]["data_wait"], 1'500'000);
  std::int64_t sum = 0;
  for (const auto& cause : rank["partition"]) sum += cause.get<std::int64_t>();
  EXPECT_EQ(sum, rank["window_ns"].get<std::int64_t>());
  const json& collective = document["collectives"][0];
  EXPECT_EQ(collective["operation"], "all_reduce");
  EXPECT_EQ(collective["dtype"], "float32");
  EXPECT_EQ(collective["last_arriver"], 2);
  EXPECT_EQ(collective["unfinished"], false);
  EXPECT_EQ(collective["busbw_wire_gbps"], 6.0);
  EXPECT_EQ(collective["ranks"][1]["wait_ns"], 3'000'000);
  EXPECT_EQ(document["blame"][0]["blame_ns"], 7'000'000);
  EXPECT_EQ(document["warnings"][0],
            (json{{"code", "rank_missing"},
                  {"message", "rank 3 of 4 has no trace: waits are computed over those present"},
                  {"rank", 3}}));
}

bool has_warning(const json& document, const std::string& code) {
  for (const json& warning : document["warnings"]) {
    if (warning["code"] == code) return true;
  }
  return false;
}

TEST(ReportJson, AbsentIsNullWithAReason) {
  Report report = small_report();
  report.origin_ns.reset();
  report.ranks[1].measures.overlap_ratio.reset();
  report.ranks[1].measures.waits_known = false;
  report.efficiency = {};
  const json document = json::parse(to_json(report));
  const json& second = document["collectives"][1];
  for (const char* name : {"bytes", "sequence", "last_arriver", "last_arriver_margin_ns", "algbw_gbps",
                           "busbw_gbps", "busbw_wire_gbps"}) {
    EXPECT_TRUE(second[name].is_null()) << name;
  }
  EXPECT_TRUE(document["run"]["origin_ns"].is_null());
  EXPECT_TRUE(document["ranks"][1]["overlap_ratio"].is_null());
  for (const char* name :
       {"collective_wait_ns", "hidden_collective_wait_ns", "p2p_wait_ns", "hidden_p2p_wait_ns"}) {
    EXPECT_TRUE(document["ranks"][1][name].is_null()) << name;
    EXPECT_TRUE(document["ranks"][0][name].is_number_integer()) << name;
  }
  EXPECT_TRUE(document["blame"][0]["persistent"].is_null());
  EXPECT_TRUE(document["efficiency"]["parallel"].is_null());
  for (const char* code : {"absent_origin", "absent_overlap_ratio", "absent_bytes", "absent_last_arriver",
                           "absent_sequence", "absent_persistence", "absent_efficiency"}) {
    EXPECT_TRUE(has_warning(document, code)) << code;
  }
  EXPECT_FALSE(has_warning(document, "absent_step"));
  // The message counts: 1 of 2.
  for (const json& warning : document["warnings"]) {
    if (warning["code"] == "absent_bytes") {
      EXPECT_EQ(warning["message"],
                "1 of 2 collectives: size not recorded; there is no bandwidth without it");
    }
  }
}

TEST(ReportJson, IsNotLostToBadNamesOrNumbers) {
  Report report = small_report();
  report.path = "a\xFF\"\\\n\x01";
  report.collectives[0].group_name = "\xC3";
  report.efficiency.parallel = std::numeric_limits<double>::infinity();
  report.findings[0].lost_share = std::numeric_limits<double>::quiet_NaN();
  const json document = json::parse(to_json(report));
  EXPECT_EQ(document["run"]["path"], "a\uFFFD\"\\\n\x01");
  EXPECT_EQ(document["collectives"][0]["group"]["name"], "\uFFFD");
  EXPECT_TRUE(document["efficiency"]["parallel"].is_null());
  EXPECT_TRUE(document["findings"][0]["lost_share"].is_null());
  EXPECT_TRUE(has_warning(document, "invalid_utf8"));
  EXPECT_FALSE(has_warning(json::parse(to_json(small_report())), "invalid_utf8"));
}

TEST(ReportJson, AStepOfNoLengthHasALengthOfZero) {
  Report report = small_report();
  report.steps[0].end_ns = report.steps[0].begin_ns;
  report.steps[0].measures = {};
  report.steps[0].measures.known = false;
  const json document = json::parse(to_json(report));
  EXPECT_EQ(document["steps"][0]["window_ns"], 0);
  EXPECT_TRUE(document["steps"][0]["compute_ns"].is_null());
}

TEST(ReportJson, AnEmptyReportIsADocument) {
  const json document = json::parse(to_json(Report{}));
  for (const char* name : {"ranks", "steps", "collectives", "pipeline", "blame", "findings"}) {
    EXPECT_EQ(document[name], json::array()) << name;
  }
}

}  // namespace
}  // namespace lockstep::analyzer

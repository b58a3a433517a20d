#include "analyzer/export/sample_job.h"

#include <algorithm>
#include <random>

namespace lockstep::analyzer {
namespace {

Activity activity(Nanoseconds begin, Nanoseconds end, std::uint32_t name, std::uint32_t lane) {
  Activity a;
  a.begin = begin;
  a.end = end;
  a.name = name;
  a.lane = lane;
  return a;
}

Activity launched(Activity a, Nanoseconds begin, Nanoseconds end) {
  a.launch_begin = begin;
  a.launch_end = end;
  return a;
}

RankTrace rank_with_lanes(std::int32_t number) {
  RankTrace rank;
  rank.rank = number;
  rank.host = "node-a";
  rank.device = "cuda:0";
  rank.file = "rank.json";
  rank.lanes = {{trace::LaneKind::device_stream, 7, "stream 7"},
                {trace::LaneKind::communication, 8, "gloo, \"ring\""},
                {trace::LaneKind::host_thread, 42, "main\xFF"}};
  rank.steps = {{12, 800, 3200}};
  return rank;
}

void add_collective(RankTrace& rank, Activity a) {
  a.activity_class = Class::collective;
  a.communication = static_cast<std::uint32_t>(rank.communications.size());
  a.step = 0;
  Communication c;
  c.activity = static_cast<std::uint32_t>(rank.activities.size());
  c.group = 0;
  c.operation = Operation::all_reduce;
  c.data_type = DataType::float32;
  c.has_metadata = true;
  c.sequence = 5;
  c.bytes = 4096;
  rank.communications.push_back(c);
  rank.activities.push_back(a);
}

}  // namespace

SampleJob sample_job() {
  SampleJob sample;
  Job& job = sample.job;
  job.path = "runs/sample";
  job.sources = {"lockstep"};
  job.world_size = 4;
  job.ranks_missing = {1, 2};
  job.groups = {{"dp \"0\"", "", {0, 3}}};
  job.realtime_of_zero = 1'700'000'000'000'000'000;
  const std::uint32_t matmul = job.strings.intern("matmul");
  const std::uint32_t add = job.strings.intern("void add<float, 4>(int)");
  const std::uint32_t kernel = job.strings.intern("ncclKernel");
  const std::uint32_t step = job.strings.intern("step");
  const std::uint32_t loading = job.strings.intern("data, \"load\"\r\n\xFE");

  RankTrace first = rank_with_lanes(0);
  first.activities.push_back(launched(activity(1000, 2000, matmul, 0), 900, 950));
  first.activities.back().step = 0;
  first.computations = {{2, 1, Pass::forward}};
  first.activities.back().compute = 0;
  add_collective(first, activity(1500, 3000, kernel, 1));
  first.activities.push_back(activity(1800, 2500, add, 0));  // overlaps matmul without nesting
  first.activities.push_back(activity(2500, 2500, add, 0));  // no length
  first.host_ranges = {{800, 3200, step, 2, 0, HostKind::step},
                       {850, 900, loading, 2, 1, HostKind::data_loading}};
  first.counters = {{"memory \"peak\"", {{900, 1.5e9}, {2600, 2.5e9}}}};
  RankTrace other = rank_with_lanes(3);
  other.activities.push_back(activity(1000, 1999, matmul, 0));
  add_collective(other, activity(2000, 3001, kernel, 1));
  job.ranks = {first, other};

  Analysis& analysis = sample.analysis;
  Report& report = analysis.report;
  report.path = job.path;
  report.sources = job.sources;
  report.world_size = 4;
  report.ranks_present = {0, 3};
  report.ranks_missing = {1, 2};
  report.steps_present = {12};
  report.origin_aligned_ns = 1000;
  report.origin_ns = *job.realtime_of_zero + 1000;
  report.warnings = {{"rank_missing", "ranks 1 and 2 have no trace", kNoRank}};
  for (const RankTrace& rank : job.ranks) {
    RankReport r;
    r.rank = rank.rank;
    r.host = rank.host;
    r.device = rank.device;
    r.measures.window_ns = rank.rank == 0 ? 2000 : 2001;
    r.measures.partition[Cause::compute] = rank.rank == 0 ? 1500 : 999;
    r.measures.partition[Cause::transfer] = rank.rank == 0 ? 500 : 1001;
    r.measures.partition[Cause::queued] = rank.rank == 0 ? 0 : 1;
    r.end_ns = r.measures.window_ns;
    report.ranks.push_back(r);
    StepReport s;
    s.step = 12;
    s.rank = rank.rank;
    s.end_ns = r.end_ns;
    s.measures = r.measures;
    report.steps.push_back(s);
  }
  CollectiveReport collective;
  collective.id = 9;
  collective.step = 12;
  collective.operation = Operation::all_reduce;
  collective.group_name = job.groups[0].name;
  collective.group_ranks = {0, 3};
  collective.sequence = 5;
  collective.bytes = 4096;
  collective.data_type = DataType::float32;
  collective.evidence = "sequence";
  collective.last_arriver = 3;
  collective.last_arriver_margin_ns = 500;
  collective.busbw_wire_gbps = 4.096;
  collective.wait_ns = 500;
  collective.ranks = {{0, 500, 2000, 500, 1000, 0, 1}, {3, 1000, 2001, 0, 1001, 0, 1}};
  report.collectives = {collective};
  report.blame = {{3, 500, 400, 1, false, "", std::nullopt}};
  report.findings = {{"straggler", "high", "rank 3 is late", {"a", "b"}, "look at it", 500, 0.125}};
  GroupOperation operation;
  operation.operation = Operation::all_reduce;
  operation.count = 1;
  operation.bytes = 4096;
  operation.wire_bytes_per_step_and_rank = 4096;
  operation.wait_ns = 500;
  operation.transfer_ns = 2001;
  report.groups = {{collective.group_name, {0, 3}, {operation}}};
  PipelineReport pipeline{"pp, 0", 2, 4, 1, Schedule::unknown, 0.25, std::nullopt};
  pipeline.reason.code = PipelineReason::Code::microbatches_unnumbered;
  pipeline.bubble_ns = 1000;
  pipeline.region_ns = 2000;
  pipeline.stages_detail = {{0, 0, {0, 1}, 1, 2, 0, 3, 0, 500, 1, 2, 497},
                            {1, 3, {}, 1, 2, 0, 3, 0, 500, {}, {}, {}}};
  report.pipeline = {pipeline};
  LayerReport layer;
  layer.layer = 2;
  layer.ranks = {0};
  layer.forward = LayerPass{1000, 1000, 1000, 1000, 0, 1000};
  report.layers = {layer};
  analysis.collective_of = {{0}, {0}};
  analysis.segments = {
      {{1000, 2500, Cause::compute}, {2500, 3000, Cause::transfer}},
      {{1000, 1999, Cause::compute}, {1999, 2000, Cause::queued}, {2000, 3001, Cause::transfer}}};
  return sample;
}

SampleJob random_job(std::uint32_t seed, int ranks, int activities) {
  std::mt19937 random(seed);
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  SampleJob sample;
  for (int r = 0; r < ranks; ++r) {
    RankTrace rank = rank_with_lanes(r);
    rank.steps.clear();
    for (int i = 0; i < activities; ++i) {
      const Nanoseconds begin = draw(-500, 500);
      const std::uint32_t name =
          sample.job.strings.intern(std::string(1, static_cast<char>('a' + draw(0, 9))));
      rank.activities.push_back(
          activity(begin, begin + draw(0, 60), name, static_cast<std::uint32_t>(draw(0, 2))));
    }
    std::sort(rank.activities.begin(), rank.activities.end(),
              [](const Activity& a, const Activity& b) { return a.begin < b.begin; });
    sample.job.ranks.push_back(std::move(rank));
  }
  return sample;
}

}  // namespace lockstep::analyzer

#include "viewer/testing/synthetic_job.h"

#include <fmt/format.h>

namespace lockstep::viewer {

namespace {

using analyzer::Activity;
using analyzer::Class;

enum Lane : std::uint32_t { kMain, kCompute, kNetwork };

analyzer::RankTrace synthetic_rank(const SyntheticOptions& options, std::int32_t rank,
                                   analyzer::StringTable& strings) {
  analyzer::RankTrace trace;
  trace.rank = rank;
  trace.host = "node";
  trace.device = "cpu";
  trace.file = fmt::format("rank-{}", rank);
  trace.lanes = {{trace::LaneKind::host_thread, 1, "main"},
                 {trace::LaneKind::compute_thread, 1, "compute"},
                 {trace::LaneKind::communication, 2, "network"}};
  const std::uint32_t step_name = strings.intern("step");
  const std::uint32_t loading_name = strings.intern("data_loading");
  const std::uint32_t compute_name = strings.intern("matmul");
  const std::uint32_t reduce_name = strings.intern("all_reduce");
  for (std::int64_t number = 0; number < options.steps; ++number) {
    const std::int64_t begin = options.begin + number * kSyntheticStep;
    const std::int64_t computed = begin + 500 + options.late[static_cast<std::size_t>(rank)];
    const auto step = static_cast<std::uint32_t>(number);
    trace.steps.push_back({number, begin, begin + kSyntheticStep});
    trace.host_ranges.push_back(
        {begin, begin + kSyntheticStep, step_name, kMain, 0, analyzer::HostKind::step});
    trace.host_ranges.push_back(
        {begin, begin + 100, loading_name, kMain, 1, analyzer::HostKind::data_loading});

    Activity compute;
    compute.begin = compute.launch_begin = compute.launch_end = begin + 100;
    compute.end = computed;
    compute.name = compute_name;
    compute.lane = kCompute;
    compute.step = step;
    trace.activities.push_back(compute);

    Activity reduce;
    reduce.begin = reduce.launch_begin = reduce.launch_end = computed;
    reduce.end = begin + 1'000;
    reduce.name = reduce_name;
    reduce.lane = kNetwork;
    reduce.step = step;
    reduce.activity_class = Class::collective;
    reduce.communication = static_cast<std::uint32_t>(trace.communications.size());
    analyzer::Communication communication;
    communication.activity = static_cast<std::uint32_t>(trace.activities.size());
    communication.group = 0;
    communication.operation = trace::Operation::all_reduce;
    communication.data_type = trace::DataType::float32;
    communication.has_metadata = true;
    communication.sequence = number;
    communication.bytes = 2'000'000;
    trace.activities.push_back(reduce);
    trace.communications.push_back(communication);
  }
  return trace;
}

}  // namespace

analyzer::Job synthetic_job(const SyntheticOptions& options) {
  analyzer::Job job;
  job.path = "synthetic";
  job.sources = {"synthetic"};
  job.world_size = static_cast<std::int32_t>(options.late.size());
  analyzer::JobGroup group;
  group.name = "world";
  std::vector<std::int32_t> all;
  for (std::int32_t rank = 0; rank < job.world_size; ++rank) {
    all.push_back(rank);
    job.ranks.push_back(synthetic_rank(options, rank, job.strings));
  }
  group.ranks = std::move(all);
  job.groups.push_back(std::move(group));
  return job;
}

}  // namespace lockstep::viewer

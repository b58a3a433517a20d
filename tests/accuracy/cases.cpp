#include "tests/accuracy/cases.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/bucketed_jobs.h"
#include "analyzer/diagnose/hung_jobs.h"
#include "analyzer/diagnose/sharded_jobs.h"
#include "analyzer/model/pipeline_job.h"
#include "tests/accuracy/about.h"
#include "tests/accuracy/cases_idle.h"
#include "tests/accuracy/cases_run.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

Job one_bucket(Random& random) {
  return bucketed_job(1, 0, 0, 80 << 20, about(random, 6000)).build();
}
Job small_buckets(Random& random) {
  const Nanoseconds start = about(random, 100);
  return bucketed_job(40, 10'000, start + 10 * us, 400'000, start + 400 * us).build();
}
Job late_bucket(Random& random) {
  JobBuilder job;
  const Nanoseconds transfer = about(random, 1000);
  for (int step = 0; step < 3; ++step) {
    const Nanoseconds begin = step * 20'000 * us;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      job.rank(rank).step(step, begin, begin + 19'000 * us);
      job.rank(rank).compute(begin, begin + 9000 * us).launched(begin, begin + 1);
      for (const Nanoseconds at : {8000 * us, 9200 * us, 10'400 * us})
        job.rank(rank)
            .all_reduce(begin + at, begin + at + transfer)
            .bytes(8 << 20)
            .launched(begin + 2, begin + 3);
    }
  }
  return job.build();
}
Job nothing_hidden(Random& random) {
  return bucketed_job(8, 10 << 20, about(random, 1000), 1 << 20, 110 * us).build();
}

Nanoseconds between(Random& random, Nanoseconds least, Nanoseconds most) {
  return least + static_cast<Nanoseconds>(random.below(static_cast<std::size_t>(most - least + 1)));
}
Job no_prefetch(Random& random) {
  return sharded_job({.gather_us = between(random, 80, 120)}).build();
}
Job shallow_prefetch(Random& random) {
  return sharded_job({.ahead_us = between(random, 45, 55)}).build();
}
Job throttled(Random& random) {
  return sharded_job({.gather_us = between(random, 140, 160), .after_us = 2, .halves = true}).build();
}
Job needless_sharding(Random& random) {
  return sharded_job({.gather_us = between(random, 80, 120), .bytes = 10 << 20}).build();
}
Job exposed_scatter(Random& random) {
  return sharded_job({.ahead_us = 150, .scatter_us = between(random, 70, 90)}).build();
}

Job hangs(Random& random) {
  const auto missing = static_cast<std::int32_t>(random.below(4));
  std::vector<std::int32_t> stuck;
  for (std::int32_t rank = 0; rank < 4; ++rank)
    if (rank != missing) stuck.push_back(rank);
  return hung_job(stuck, 60 * kSecond, true);
}
Job stuck_device(Random& random) {
  const std::size_t stuck = random.below(4);
  Job job = hung_job({static_cast<std::int32_t>(stuck)}, 60 * kSecond, true);
  for (RankTrace& rank : job.ranks) {
    rank.device = "cuda:0";
    if (rank.ending.operations.empty()) rank.ending.progress = {{0, 4, 4}};
  }
  Ending& ending = job.ranks[stuck].ending;
  ending.operations.push_back(ending.operations.front());
  ending.operations.back().sequence = 4;
  return job;
}
Job fails(Random& random) {
  JobBuilder builder;
  for (std::int32_t rank = 0; rank < 3; ++rank)
    builder.rank(rank).compute(0, 500 * us).launched(0, 1).all_reduce(500 * us, 600 * us).launched(2, 3);
  Job job = builder.build();
  for (RankTrace& rank : job.ranks) rank.ending.recorded_until = 9 * kSecond;
  job.ranks[random.below(3)].ending.recorded_until = 5 * kSecond;
  job.end.exit_code = 1;
  return job;
}
Job is_interrupted(Random& random) {
  Job job = fails(random);
  for (RankTrace& rank : job.ranks) {
    rank.ending.recorded_until = 9 * kSecond;
    rank.ending.interrupted = 9 * kSecond;
  }
  job.end.interrupted_by = random.below(2) == 0 ? 2 : 15;
  job.end.interrupted_at = 9 * kSecond;
  return job;
}
Job disagrees(Random& random) {
  JobBuilder job;
  const std::uint32_t group = job.group("dp", {0, 1});
  const auto wrong = static_cast<std::int32_t>(random.below(2));
  for (std::int32_t rank = 0; rank < 2; ++rank)
    job.rank(rank)
        .all_reduce(rank, 90 * us)
        .in_group(group)
        .sequence(3)
        .bytes(400)
        .of(rank == wrong ? DataType::bfloat16 : DataType::float32);
  return job.build();
}

// Two ranks that compute, and reduce with nothing beside most of it.
JobBuilder reducing(Random& random, const char* second_host, std::int64_t bytes) {
  JobBuilder job;
  const Nanoseconds transfer = about(random, 500);
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    job.rank(rank).trace().host = rank == 0 ? "alpha" : second_host;
    job.rank(rank).compute(0, 500 * us).launched(-2, -1);
    job.rank(rank).all_reduce(400 * us, 400 * us + transfer).bytes(bytes).launched(1, 2);
  }
  return job;
}
Job transfers(Random& random) {
  return reducing(random, "alpha", 1'000'000).build();
}
Job transfers_between_hosts(Random& random) {
  return reducing(random, "beta", 20'000).build();  // 40 MB a second
}
Job partner_without_a_record(Random& random) {
  JobBuilder job;
  job.missing(1);
  job.rank(0).compute(0, 500 * us).launched(-2, -1);
  job.rank(0).all_reduce(400 * us, 400 * us + about(random, 500)).launched(1, 2);
  return job.build();
}
Job uncertain_clocks(Random& random) {
  JobBuilder job;
  const Nanoseconds late = about(random, 50);
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    job.rank(rank).compute(0, 10 * us).all_reduce(100 * us + rank * late, 200 * us);
    job.rank(rank).trace().host = rank == 0 ? "a" : "b";
    job.rank(rank).trace().clock.uncertainty_ns = 100 * us;
  }
  return job.build();
}

// Ten steps of two ranks: 500 µs of compute, and an all-reduce of which nothing is hidden.
Job two_ranks(Random& random, const char* group_name, std::vector<ChannelPath> paths,
              const char* second_host) {
  JobBuilder builder;
  const std::uint32_t group = builder.group(group_name, {0, 1});
  const Nanoseconds transfer = about(random, 200);
  for (int step = 0; step < 10; ++step) {
    const Nanoseconds begin = step * 1000 * us, arrival = begin + 500 * us;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      builder.rank(rank).compute(begin, arrival).launched(begin, begin + 1);
      builder.rank(rank).all_reduce(arrival, arrival + transfer).launched(begin, begin + 1).in_group(group);
      builder.rank(rank).trace().device = "cuda:0";
      builder.rank(rank).trace().host = rank == 0 ? "node0" : second_host;
    }
  }
  Job job = builder.build();
  job.paths = std::move(paths);
  return job;
}
ChannelPath path(std::int32_t from, Transport transport, const char* connection, bool same_host) {
  ChannelPath path;
  path.from = from;
  path.to = 1 - from;
  path.ranks_are_global = true;
  path.communicator_size = 2;
  path.transport = transport;
  if (transport == Transport::net) path.gpu_direct = false;
  path.read = std::string_view(connection).ends_with("/read");
  path.same_host = same_host;
  path.connection = connection;
  path.channels = 2;
  path.file = "nccl.node0.12.log";
  return path;
}
Job shared_memory(Random& random) {
  return two_ranks(random, "dp",
                   {path(0, Transport::shared_memory, "SHM/direct/direct", true),
                    path(1, Transport::shared_memory, "SHM/direct/direct", true)},
                   "node0");
}
Job network_without_gpu_direct(Random& random) {
  return two_ranks(random, "dp",
                   {path(0, Transport::net, "NET/IB/0", false), path(1, Transport::net, "NET/IB/0", false)},
                   "node1");
}
Job read_by_receiver(Random& random) {
  return two_ranks(
      random, "dp",
      {path(0, Transport::p2p, "P2P/CUMEM/read", true), path(1, Transport::p2p, "P2P/CUMEM/read", true)},
      "node0");
}
Job tensor_parallel(Random& random) {
  return two_ranks(random, "tensor parallel", {}, "node1");
}
Job slow_messages(Random& random) {
  JobBuilder job;
  const std::uint32_t group = job.group("all", {0, 1});
  constexpr std::int64_t kBytes = 10'000'000;
  for (int i = 0; i < 10; ++i) {
    const Nanoseconds begin = i * 5000 * us, sent = begin + about(random, 1000);
    job.rank(0).send(1, begin, sent).in_group(group).bytes(kBytes);
    job.rank(1).recv(0, begin, sent).in_group(group).bytes(kBytes);
    for (int rank = 0; rank < 2; ++rank) {
      job.rank(rank).compute(sent, sent + 1000 * us);
      job.rank(rank).all_reduce(sent + 1000 * us, sent + 1100 * us).in_group(group).bytes(kBytes);
      job.rank(rank).trace().device = "cuda:0";
      job.rank(rank).trace().host = "node0";
    }
  }
  return job.build();
}

PipelinePlan pipeline(Random& random) {
  const int stages = 2 + static_cast<int>(random.below(3));
  return {.stages = stages,
          .order = one_forward_one_backward(stages, 2 * stages),
          .forward = about(random, 10),
          .backward = about(random, 20)};
}
Job bubble(Random& random) {
  return pipeline_job(pipeline(random)).build();
}
Job unbalanced(Random& random) {
  PipelinePlan plan = pipeline(random);
  plan.slow_stage = static_cast<int>(random.below(static_cast<std::size_t>(plan.stages)));
  plan.slower_by = about(random, 10);
  return pipeline_job(plan).build();
}

// A rank whose threads sleep inside its computations, as a range that was cut is read.
Job sleeps_in_compute(Random& random) {
  JobBuilder job;
  for (int step = 0; step < 8; ++step) {
    const Nanoseconds begin = step * 1000 * us;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      const Nanoseconds awake = begin + 400 * us + (rank == 1 ? about(random, 150) : 0);
      job.rank(rank).step(step, begin, begin + 999 * us);
      job.rank(rank).compute(begin, begin + 400 * us).launched(begin, begin);
      job.rank(rank).compute(awake, begin + 1000 * us).launched(awake, awake);
      RankTrace& trace = job.rank(rank).trace();
      trace.device = "cpu";
      trace.off_cpu_known = true;
      if (awake > begin + 400 * us) trace.off_cpu.push_back({begin + 400 * us, awake});
    }
  }
  return job.build();
}

// Four ranks whose training threads take turns on two cores.
Job shares_cores(Random& random) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    RankTrace& trace = job.rank(rank).trace();
    trace.device = "cpu";
    trace.host = "node0";
    trace.core_set = "0-1";
    trace.scheduling = {{0, 0, 0, 0, false}};
    for (int step = 0; step < 8; ++step) {
      const Nanoseconds begin = step * 1000 * us, waited = about(random, 400);
      job.rank(rank).step(step, begin, begin + 999 * us);
      job.rank(rank).compute(begin, begin + 1000 * us).launched(begin, begin);
      const SchedulingPoint before = trace.scheduling.back();
      trace.scheduling.push_back({begin + 1000 * us, before.on_cpu_ns + 1000 * us - waited,
                                  before.runnable_ns + waited, before.waited_ns + waited, true});
    }
  }
  return job.build();
}

// One step, in which rank 1 is late: too little to say that it is so again and again.
Job one_step(Random& random) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    const Nanoseconds late = rank == 1 ? about(random, 300) : 0;
    job.rank(rank).step(0, 0, 900 * us);
    job.rank(rank).compute(0, 500 * us + late).launched(0, 1);
    job.rank(rank).all_reduce(500 * us + late, 890 * us).launched(0, 2);
  }
  return job.build();
}

// Another rank in each step has half as much again to compute, and a counter says so.
Job larger_batches_in_turn(Random& random) {
  constexpr int kSteps = 24;
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    CounterTrack tokens{"tokens", {}};
    for (int step = 0; step < kSteps; ++step) {
      const Nanoseconds begin = step * 1000 * us;
      const bool larger = rank == step * 7 % 4;
      const Nanoseconds end = begin + about(random, larger ? 600 : 400);
      job.rank(rank).step(step, begin, begin + 999 * us);
      job.rank(rank).compute(begin, end).launched(begin, begin + 1);
      job.rank(rank).all_reduce(end, begin + 900 * us).launched(begin, begin + 2);
      tokens.points.push_back({begin + 950 * us, larger ? 6144.0 : 4096.0});
    }
    job.rank(rank).trace().counters.push_back(tokens);
  }
  return job.build();
}

constexpr auto kCases = std::to_array<KindCase>({
    {"imbalance", one_step},
    {"uneven_batches", larger_batches_in_turn},
    {"blocked_in_compute", sleeps_in_compute},
    {"cores_shared", shares_cores},
    {"hang", hangs},
    {"device_stuck", stuck_device},
    {"job_failed", fails},
    {"job_interrupted", is_interrupted},
    {"mismatched_collectives", disagrees},
    {"buckets_too_large", one_bucket},
    {"buckets_too_small", small_buckets},
    {"first_bucket_late", late_bucket},
    {"no_overlap", nothing_hidden},
    {"prefetch_off", no_prefetch},
    {"prefetch_shallow", shallow_prefetch},
    {"all_gathers_throttled", throttled},
    {"sharding_not_needed", needless_sharding},
    {"reduce_scatter_exposed", exposed_scatter},
    {"exposed_copies", copies},
    {"data_loading", loads},
    {"queued", does_not_start},
    {"host_bound", launches_late},
    {"host_slowed_by_profiler", profiled_with_stacks},
    {"communication_unrecognised", spins},
    {"idle_between_computations", idles_on_a_cpu},
    {"idle_without_launches", few_launches},
    {"unexplained_idle", nobody_knows},
    {"exposed_transfer", transfers},
    {"slow_link", transfers_between_hosts},
    {"exposed_communication", partner_without_a_record},
    {"clock_uncertain", uncertain_clocks},
    {"p2p_host_staged", shared_memory},
    {"net_without_gpu_direct", network_without_gpu_direct},
    {"p2p_read", read_by_receiver},
    {"tensor_parallel_across_hosts", tensor_parallel},
    {"p2p_slow_path", slow_messages},
    {"pipeline_bubble", bubble},
    {"unbalanced_stages", unbalanced},
    {"checkpoints_block", saves_checkpoints},
    {"evaluation_long", evaluates},
    {"recompilation", compiles_anew},
    {"start_up_long", starts_long},
    {"compilation_long", compiles_long},
});

}  // namespace

std::span<const KindCase> kind_cases() {
  return kCases;
}

}  // namespace lockstep::accuracy

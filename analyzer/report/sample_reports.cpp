#include "analyzer/report/sample_reports.h"

#include <array>

namespace lockstep::analyzer {
namespace {

// compute, of it over communication, transfer, barrier_wait, data_wait, host_bound, queued; the rest 0.
struct Times {
  std::int64_t compute, hidden, transfer, barrier_wait, data_wait, host_bound, queued;
};

Measures measures(const Times& t) {
  Measures m;
  m.partition[Cause::compute] = t.compute;
  m.partition.compute_over_communication_ns = t.hidden;
  m.partition[Cause::transfer] = t.transfer;
  m.partition[Cause::barrier_wait] = t.barrier_wait;
  m.partition[Cause::data_wait] = t.data_wait;
  m.partition[Cause::host_bound] = t.host_bound;
  m.partition[Cause::queued] = t.queued;
  m.window_ns = m.partition.total();
  m.compute_ns = t.compute;
  m.communication_ns = t.hidden + t.transfer + t.barrier_wait;
  m.overlap_ns = t.hidden;
  m.exposed_communication_ns = t.transfer + t.barrier_wait;
  if (m.communication_ns > 0) {
    m.overlap_ratio = static_cast<double>(m.overlap_ns) / static_cast<double>(m.communication_ns);
    m.overlap_ratio_per_kernel = m.overlap_ratio;
  }
  m.collective_wait_ns = t.barrier_wait;
  return m;
}

RankReport rank_report(std::int32_t rank, const char* host, const Times& times) {
  RankReport r;
  r.rank = rank;
  r.host = host;
  r.device = "cpu";
  r.measures = measures(times);
  r.end_ns = r.measures.window_ns;
  r.clock.uncertainty_ns = 250;
  r.clock.evidence = "same host";
  return r;
}

constexpr std::int64_t kMs = 1'000'000;

}  // namespace

Report small_report() {
  Report report;
  report.path = "runs/sm\x1b[31mall";
  report.origin_ns = 1'700'000'000'000'000'000;
  report.sources = {"lockstep"};
  report.world_size = 4;
  report.ranks_present = {0, 1, 2};
  report.ranks_missing = {3};
  report.steps_present = {1, 2};
  report.warnings.push_back(
      {"rank_missing", "rank 3 of 4 has no trace: waits are computed over those present", 3});
  report.ranks = {rank_report(0, "node-a", {4 * kMs, kMs, kMs, 4 * kMs, 0, kMs, 0}),
                  rank_report(1, "node-a", {5 * kMs, kMs, kMs, 3 * kMs, 0, kMs, 0}),
                  rank_report(2, "node-b", {7 * kMs, 0, kMs, 0, 1'500'000, 0, 500'000})};
  for (std::int64_t step : {1, 2}) {
    for (std::int32_t rank : {0, 1, 2}) {
      StepReport s;
      s.step = step;
      s.rank = rank;
      s.begin_ns = (step - 1) * 5 * kMs;
      s.measures =
          measures({2 * kMs + rank * 500'000, 0, 500'000, step == 1 ? 0 : (2 - rank) * kMs, 0, 0, 0});
      s.end_ns = s.begin_ns + s.measures.window_ns;
      report.steps.push_back(s);
    }
  }
  CollectiveReport first;
  first.id = 0;
  first.step = 1;
  first.operation = Operation::all_reduce;
  first.group_name = "default_pg";
  first.group_ranks = {0, 1, 2, 3};
  first.sequence = 0;
  first.bytes = 4'000'000;
  first.data_type = DataType::float32;
  first.evidence = "sequence";
  first.partial = true;
  first.last_arriver = 2;
  first.last_arriver_margin_ns = 3 * kMs;
  first.algbw_gbps = 0.5;
  first.busbw_gbps = 0.75;
  first.busbw_wire_gbps = 6;
  first.wait_ns = 7 * kMs;
  first.ranks = {{0, 2 * kMs, 7 * kMs, 4 * kMs, kMs, 0},
                 {1, 3 * kMs, 7 * kMs, 3 * kMs, kMs, 0},
                 {2, 6 * kMs, 7 * kMs, 0, kMs, 0}};
  CollectiveReport second = first;
  second.id = 1;
  second.step = 2;
  second.operation = Operation::broadcast;
  second.sequence.reset();
  second.bytes.reset();
  second.data_type = DataType::unknown;
  second.evidence = "order";
  second.partial = false;
  second.last_arriver.reset();
  second.last_arriver_margin_ns.reset();
  second.algbw_gbps = second.busbw_gbps = second.busbw_wire_gbps = std::nullopt;
  second.wait_ns = 0;
  second.ranks = {{0, 8 * kMs, 9 * kMs, 0, kMs, 0},
                  {1, 8 * kMs, 9 * kMs, 0, kMs, 0},
                  {2, 8 * kMs + 100, 9 * kMs, 0, kMs - 100, 0}};
  report.collectives = {first, second};
  BucketReport gradients;
  gradients.group_name = "default_pg";
  gradients.group_ranks = {0, 1, 2, 3};
  gradients.operation = Operation::all_reduce;
  gradients.steps = gradients.count = 1;
  gradients.records = 3;
  gradients.bytes = 4'000'000;
  gradients.transfer_ns = 3 * kMs;
  gradients.wait_ns = 7 * kMs;
  gradients.hidden_ns = 2 * kMs;
  gradients.exposed_transfer_ns = kMs;
  gradients.exposed_wait_ns = 7 * kMs;
  BucketReport weights = gradients;
  weights.operation = Operation::broadcast;
  weights.name = "layer 3";
  weights.bytes.reset();
  weights.wait_ns = weights.hidden_ns = weights.exposed_wait_ns = 0;
  weights.exposed_transfer_ns = 3 * kMs;
  report.buckets = {gradients, weights};
  report.blame = {
      {2, 7 * kMs, 7 * kMs, 1, false, "it computed 2.00 ms longer than the median rank", std::nullopt}};
  report.efficiency = {0.76, 0.7, 0.53};
  report.findings = {{"straggler_persistent",
                      "high",
                      "rank 2 arrives last and the others wait",
                      {"it is last in 1 of 2 collectives", "its data loading takes 1.50 ms"},
                      "Move data loading to a worker: DataLoader(num_workers=4).",
                      7 * kMs,
                      0.233,
                      Cause::barrier_wait,
                      2,
                      FindingPlace{0, 1, 0, 3 * kMs, 8 * kMs}}};
  report.findings[0].accuses = Accused::rank;
  return report;
}

Report wide_report(std::int32_t ranks) {
  Report report;
  report.path = "wide";
  report.sources = {"kineto"};
  report.world_size = ranks;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    report.ranks_present.push_back(rank);
    const bool late = rank == 3;
    const std::int64_t extra = rank * kMs / ranks;
    report.ranks.push_back(rank_report(
        rank, "",
        {late ? 9 * kMs : 4 * kMs, 0, kMs, late ? 0 : 5 * kMs - (rank == 5 ? kMs : 0), 0, 0, extra}));
  }
  report.blame = {{3, 5 * kMs * (ranks - 1) - kMs, 2 * kMs, 12, false, "", true}};
  return report;
}

Report long_report(std::int64_t steps) {
  Report report;
  report.path = "long";
  report.sources = {"lockstep"};
  report.world_size = 1;
  report.ranks_present = {0};
  report.ranks = {rank_report(0, "node", {steps * 9 * kMs, 0, 0, 0, 0, steps * kMs + 20 * kMs, 0})};
  for (std::int64_t step = 0; step < steps; ++step) {
    report.steps_present.push_back(step);
    StepReport s;
    s.step = step;
    s.measures = measures({9 * kMs, 0, 0, 0, 0, step == 7 ? 21 * kMs : kMs, 0});
    report.steps.push_back(s);
  }
  return report;
}

AccountReport account_of_ranks(std::int32_t ranks) {
  constexpr std::int64_t kSecond = 1000 * kMs;
  AccountReport account;
  account.wall_ns = 100 * kSecond;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    RankAccount one;
    one.rank = rank;
    one.spent[Spending::start_up] = (rank % 50 + 1) * kSecond;
    one.spent[Spending::checkpoint] = rank == ranks - 1 ? 10 * kSecond : 0;
    one.spent[Spending::steady] = account.wall_ns - one.spent.total();
    for (std::size_t i = 0; i < kSpendingCount; ++i) account.spent.ns[i] += one.spent.ns[i];
    account.ranks.push_back(one);
  }
  account.goodput =
      static_cast<double>(account.spent[Spending::steady]) / static_cast<double>(account.spent.total());
  return account;
}

}  // namespace lockstep::analyzer

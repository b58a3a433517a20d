#include "analyzer/scaling/scale_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace lockstep::analyzer {
namespace {

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<MessageTimes> messages_of(const Report& report) {
  std::map<std::tuple<Operation, std::int64_t, std::int64_t>, std::vector<double>> times;
  for (const CollectiveReport& collective : report.collectives) {
    if (!collective.bytes || *collective.bytes <= 0 || collective.partial || collective.unfinished ||
        collective.ranks.size() < 2)
      continue;
    // What starts a job up takes as long as connecting does.
    if (report.steady &&
        !(collective.step && std::ranges::binary_search(report.steady->steps, *collective.step)))
      continue;
    double sum = 0;
    for (const CollectiveRank& rank : collective.ranks) sum += static_cast<double>(rank.transfer_ns);
    times[{collective.operation, static_cast<std::int64_t>(collective.ranks.size()), *collective.bytes}]
        .push_back(sum / static_cast<double>(collective.ranks.size()));
  }
  std::vector<MessageTimes> messages;
  for (auto& [key, values] : times) {
    const auto& [operation, ranks, bytes] = key;
    messages.push_back(
        {operation, ranks, bytes, static_cast<std::int64_t>(values.size()), median_of(values)});
  }
  return messages;
}

// CPUs alone: a GPU that is shared is a finding of the run itself.
std::string shared_cores(const Job& job) {
  struct Cores {
    std::int32_t ranks = 0, cores = 0;
  };
  std::map<std::pair<std::string, std::string>, Cores> of_host;  // by host and set of cores
  for (const RankTrace& rank : job.ranks) {
    if (rank.device != "cpu" || rank.cores <= 0) continue;
    Cores& cores = of_host[{rank.host, rank.core_set}];
    ++cores.ranks;
    cores.cores = rank.cores;
  }
  const auto worst = std::max_element(of_host.begin(), of_host.end(), [](const auto& x, const auto& y) {
    return x.second.ranks * y.second.cores < y.second.ranks * x.second.cores;
  });
  if (worst == of_host.end() || worst->second.ranks < 2) return {};
  return fmt::format("{} ranks share {} core{}{}", worst->second.ranks, worst->second.cores,
                     worst->second.cores == 1 ? "" : "s",
                     worst->first.first.empty() ? std::string() : " of host " + worst->first.first);
}

}  // namespace

Result<ScaleRun> scale_run(const Job& job, const Report& report) {
  Result<RunSums> sums = run_sums(report);
  if (!sums.ok()) return sums.error();
  ScaleRun run;
  run.sums = std::move(sums).value();
  run.load_balance = report.efficiency.load_balance;
  run.communication_efficiency = report.efficiency.communication;
  run.messages = messages_of(report);
  run.shared = shared_cores(job);
  run.settings = settings_of(job);
  return run;
}

}  // namespace lockstep::analyzer

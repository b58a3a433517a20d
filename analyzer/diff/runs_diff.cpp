#include "analyzer/diff/runs_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "analyzer/diff/changed_ranks.h"
#include "analyzer/diff/exact_mean.h"

namespace lockstep::analyzer {
namespace {

using Runs = std::vector<RunSums>;

std::int64_t count_of(const Runs& runs) {
  return static_cast<std::int64_t>(runs.size());
}

std::set<std::int32_t> known_ranks(const RunSums& run) {
  std::set<std::int32_t> ranks;
  for (const RankSums& rank : run.ranks) ranks.insert(rank.rank);
  return ranks;
}

// Leaves of each run the ranks that all have. Returns the others.
std::set<std::int32_t> keep_common_ranks(const std::vector<Runs*>& sides) {
  std::set<std::int32_t> all, common;
  bool first = true;
  for (const Runs* side : sides)
    for (const RunSums& run : *side) {
      const std::set<std::int32_t> known = known_ranks(run);
      all.insert(known.begin(), known.end());
      all.insert(run.unknown.begin(), run.unknown.end());
      if (std::exchange(first, false))
        common = known;
      else
        std::erase_if(common, [&](std::int32_t rank) { return !known.contains(rank); });
    }
  for (Runs* side : sides)
    for (RunSums& run : *side)
      std::erase_if(run.ranks, [&](const RankSums& rank) { return !common.contains(rank.rank); });
  std::erase_if(all, [&](std::int32_t rank) { return common.contains(rank); });
  return all;
}

// Where one run does not know what of its transfer was waiting, no run's counts as known.
void join_waiting(Runs& runs) {
  const auto join = [](Partition& parts) {
    parts[Cause::transfer] += std::exchange(parts[Cause::barrier_wait], 0);
  };
  for (RunSums& run : runs)
    for (RankSums& rank : run.ranks) {
      join(rank.parts);
      for (Partition& block : rank.blocks) join(block);
    }
}

// What each rank and cause adds to the step: integers that sum to it.
std::vector<Partition> cells_of(const Runs& runs) {
  const std::size_t ranks = runs.front().ranks.size();
  std::vector<ExactNs> parts(ranks * kCauseCount);
  for (const RunSums& run : runs)
    for (std::size_t r = 0; r < ranks; ++r)
      for (std::size_t cause = 0; cause < kCauseCount; ++cause)
        parts[r * kCauseCount + cause] +=
            quotient(run.ranks[r].parts.ns[cause],
                     run.ranks[r].steps * static_cast<std::int64_t>(ranks) * count_of(runs));
  const std::vector<std::int64_t> whole = rounded_together(parts);
  std::vector<Partition> cells(ranks);
  for (std::size_t i = 0; i < whole.size(); ++i) cells[i / kCauseCount].ns[i % kCauseCount] = whole[i];
  return cells;
}

// The mean step of one rank.
Partition step_of_rank(const Runs& runs, std::size_t rank) {
  std::array<ExactNs, kCauseCount> parts{};
  for (const RunSums& run : runs)
    for (std::size_t cause = 0; cause < kCauseCount; ++cause)
      parts[cause] += quotient(run.ranks[rank].parts.ns[cause], run.ranks[rank].steps * count_of(runs));
  const std::vector<std::int64_t> whole = rounded_together(parts);
  Partition step;
  std::copy(whole.begin(), whole.end(), step.ns.begin());
  return step;
}

// Σ over ranks of one of their sums, as a part of the step.
std::int64_t mean_of_ranks(const Runs& runs, std::int64_t RankSums::*sum) {
  ExactNs mean = 0;
  for (const RunSums& run : runs)
    for (const RankSums& rank : run.ranks)
      mean += quotient(rank.*sum, rank.steps * static_cast<std::int64_t>(run.ranks.size()) * count_of(runs));
  return rounded(mean);
}

std::int64_t own_ns(const Partition& parts) {
  std::int64_t sum = 0;
  for (std::size_t cause = 0; cause < kCauseCount; ++cause)
    if (is_own(static_cast<Cause>(cause))) sum += parts.ns[cause];
  return sum;
}

// The mean over ranks of what `of_parts` takes of each rank's mean step, as a double: for the spread.
template <class OfParts>
Spread spread_over_ranks(const Runs& a, const Runs& b, std::int64_t change_ns, OfParts of_parts) {
  const auto of_run = [&](const RunSums& run) {
    double sum = 0;
    for (const RankSums& rank : run.ranks)
      sum += static_cast<double>(of_parts(rank.parts)) / static_cast<double>(rank.steps);
    return sum / static_cast<double>(run.ranks.size());
  };
  const auto of_block = [&](const RunSums& run, std::size_t block) {
    double sum = 0;
    for (const RankSums& rank : run.ranks) sum += static_cast<double>(of_parts(rank.blocks[block]));
    return sum / static_cast<double>(run.blocks[block]) / static_cast<double>(run.ranks.size());
  };
  return spread_of(a, b, of_run, of_block, change_ns);
}

void diff_steps(const Runs& a, const Runs& b, RunsDiff& diff) {
  const std::vector<Partition> of_a = cells_of(a), of_b = cells_of(b);
  const auto sum = [](const std::vector<Partition>& cells, std::size_t cause) {
    std::int64_t ns = 0;
    for (const Partition& cell : cells) ns += cell.ns[cause];
    return ns;
  };
  for (std::size_t cause = 0; cause < kCauseCount; ++cause) {
    const TimePair time{sum(of_a, cause), sum(of_b, cause)};
    diff.step.a_ns += time.a_ns;
    diff.step.b_ns += time.b_ns;
    diff.causes.push_back(
        {static_cast<Cause>(cause), time,
         spread_over_ranks(a, b, time.change_ns(), [&](const Partition& parts) { return parts.ns[cause]; })});
  }
  diff.spread =
      spread_over_ranks(a, b, diff.step.change_ns(), [](const Partition& parts) { return parts.total(); });
  if (diff.a.world_size != diff.b.world_size) return;
  for (std::size_t r = 0; r < of_a.size(); ++r) {
    const RankSums &in_a = a.front().ranks[r], &in_b = b.front().ranks[r];
    const Partition step_a = step_of_rank(a, r), step_b = step_of_rank(b, r);
    RankDiff rank{.rank = in_a.rank,
                  .causes = {},
                  .own = {own_ns(step_a), own_ns(step_b)},
                  .step = {step_a.total(), step_b.total()},
                  .part = {of_a[r].total(), of_b[r].total()},
                  .own_spread = {},
                  .host_a = in_a.host,
                  .host_b = in_b.host};
    for (std::size_t cause = 0; cause < kCauseCount; ++cause)
      rank.causes[cause] = {step_a.ns[cause], step_b.ns[cause]};
    rank.own_spread = spread_of(
        a, b,
        [r](const RunSums& run) {
          return static_cast<double>(own_ns(run.ranks[r].parts)) / static_cast<double>(run.ranks[r].steps);
        },
        [r](const RunSums& run, std::size_t block) {
          return static_cast<double>(own_ns(run.ranks[r].blocks[block])) /
                 static_cast<double>(run.blocks[block]);
        },
        rank.own.change_ns());
    diff.ranks.push_back(std::move(rank));
  }
}

// Of every key that a run has, what `add` makes of it on either side.
template <class Key, class Part, class Add>
std::vector<Part> join(const Runs& a, const Runs& b, Add add) {
  std::map<Key, Part> parts;
  for (const auto& [runs, is_a] : {std::pair{&a, true}, std::pair{&b, false}})
    for (const RunSums& run : *runs) add(run, count_of(*runs), is_a, parts);
  std::vector<Part> list;
  list.reserve(parts.size());
  for (auto& [key, part] : parts) list.push_back(std::move(part));
  return list;
}

// A part while its runs are summed.
struct ExactPair {
  ExactNs a = 0, b = 0;
  bool in_a = false, in_b = false;
  ExactNs& of(bool is_a) { return is_a ? a : b; }
  void seen(bool is_a) { (is_a ? in_a : in_b) = true; }
  TimePair time() const { return {rounded(a), rounded(b)}; }
  Presence presence() const {
    return in_a && in_b ? Presence::both : in_a ? Presence::only_a : Presence::only_b;
  }
};

template <class Part>
void finish(Split<Part>& split) {
  split.rest = split.whole;
  for (const Part& part : split.parts) {
    split.rest.a_ns -= part.time.a_ns;
    split.rest.b_ns -= part.time.b_ns;
  }
  std::stable_sort(split.parts.begin(), split.parts.end(), [](const Part& x, const Part& y) {
    return std::abs(x.time.change_ns()) > std::abs(y.time.change_ns());
  });
}

void diff_collectives(const Runs& a, const Runs& b, RunsDiff& diff) {
  struct Sum {
    CollectiveDiff part;
    ExactPair transfer, wait;
  };
  const auto add = [](const RunSums& run, std::int64_t runs, bool is_a, std::map<CollectiveKey, Sum>& sums) {
    for (const auto& [key, of] : run.collectives) {
      Sum& sum = sums[key];
      sum.part.key = key;
      sum.transfer.seen(is_a);
      sum.transfer.of(is_a) += quotient(of.transfer_ns, run.rank_steps * runs);
      sum.wait.of(is_a) += quotient(of.wait_ns, run.rank_steps * runs);
      (is_a ? sum.part.per_step_a : sum.part.per_step_b) +=
          static_cast<double>(of.operations) / static_cast<double>(run.steps * runs);
      std::optional<std::int64_t>& bytes = is_a ? sum.part.bytes_a : sum.part.bytes_b;
      if (!bytes) bytes = of.bytes;
    }
  };
  diff.collectives.whole = {mean_of_ranks(a, &RankSums::exposed_ns), mean_of_ranks(b, &RankSums::exposed_ns)};
  std::map<std::string, TimePair> groups;
  for (Sum& sum : join<CollectiveKey, Sum>(a, b, add)) {
    CollectiveDiff part = std::move(sum.part);
    part.presence = sum.transfer.presence();
    part.transfer = sum.transfer.time();
    part.wait = sum.wait.time();
    part.time = {part.transfer.a_ns + part.wait.a_ns, part.transfer.b_ns + part.wait.b_ns};
    TimePair& group = groups[part.key.group];
    group.a_ns += part.time.a_ns;
    group.b_ns += part.time.b_ns;
    diff.collectives.parts.push_back(std::move(part));
  }
  finish(diff.collectives);
  for (const auto& [name, time] : groups) diff.groups.push_back({name, time});
  std::stable_sort(diff.groups.begin(), diff.groups.end(), [](const GroupDiff& x, const GroupDiff& y) {
    return std::abs(x.time.change_ns()) > std::abs(y.time.change_ns());
  });
}

void diff_layers(const Runs& a, const Runs& b, RunsDiff& diff) {
  struct Sum {
    LayerKey key{};
    ExactPair time;
  };
  const auto add = [](const RunSums& run, std::int64_t runs, bool is_a, std::map<LayerKey, Sum>& sums) {
    for (const auto& [key, ns] : run.layers) {
      Sum& sum = sums[key];
      sum.key = key;
      sum.time.seen(is_a);
      sum.time.of(is_a) += quotient(ns, run.rank_steps * runs);
    }
  };
  diff.layers.whole = {mean_of_ranks(a, &RankSums::compute_ns), mean_of_ranks(b, &RankSums::compute_ns)};
  for (Sum& sum : join<LayerKey, Sum>(a, b, add))
    diff.layers.parts.push_back({std::move(sum.key), sum.time.presence(), sum.time.time()});
  finish(diff.layers);
}

// Of runs that all have an account.
void diff_phases(const Runs& a, const Runs& b, RunsDiff& diff) {
  const auto has_account = [](const RunSums& run) { return run.account_ranks > 0; };
  if (!std::ranges::all_of(a, has_account) || !std::ranges::all_of(b, has_account)) return;
  const auto phases_of = [](const Runs& runs) {
    std::array<ExactNs, kSpendingCount> parts{};
    for (const RunSums& run : runs)
      for (std::size_t phase = 0; phase < kSpendingCount; ++phase)
        parts[phase] += quotient(run.phases.ns[phase], run.account_ranks * count_of(runs));
    return rounded_together(parts);
  };
  const std::vector<std::int64_t> of_a = phases_of(a), of_b = phases_of(b);
  for (std::size_t phase = 0; phase < kSpendingCount; ++phase) {
    diff.phases.whole.a_ns += of_a[phase];
    diff.phases.whole.b_ns += of_b[phase];
    if (of_a[phase] != 0 || of_b[phase] != 0)
      diff.phases.parts.push_back({static_cast<Spending>(phase), {of_a[phase], of_b[phase]}});
  }
  finish(diff.phases);
}

Result<DiffSide> side_of(const Runs& runs) {
  DiffSide side{.paths = {}, .steps = 0, .world_size = runs.front().world_size, .failures = {}};
  for (const RunSums& run : runs) {
    if (run.world_size != side.world_size)
      return Error{fmt::format("{} has {} ranks and {} has {}: the runs of one side have to be of one size",
                               runs.front().path, side.world_size, run.path, run.world_size)};
    side.paths.push_back(run.path);
    side.steps += run.steps;
    if (!run.failure.empty()) side.failures.push_back(fmt::format("{}: {}", run.path, run.failure));
  }
  return side;
}

}  // namespace

bool is_own(Cause cause) {
  return cause != Cause::transfer && cause != Cause::barrier_wait && cause != Cause::pipeline_bubble;
}

Result<RunsDiff> diff_runs(std::vector<RunSums> a, std::vector<RunSums> b) {
  RunsDiff diff;
  for (const auto& [runs, side] : {std::pair{&a, &diff.a}, std::pair{&b, &diff.b}}) {
    Result<DiffSide> made = side_of(*runs);
    if (!made.ok()) return made.error();
    *side = std::move(made).value();
  }
  const bool same_size = diff.a.world_size == diff.b.world_size;
  std::set<std::int32_t> left_out;
  for (const std::vector<Runs*>& sides :
       same_size ? std::vector<std::vector<Runs*>>{{&a, &b}} : std::vector<std::vector<Runs*>>{{&a}, {&b}})
    left_out.merge(keep_common_ranks(sides));
  diff.ranks_left_out.assign(left_out.begin(), left_out.end());
  if (a.front().ranks.empty() || b.front().ranks.empty())
    return Error{fmt::format("{} and {} have no rank in common of which it is known what it did",
                             a.front().path, b.front().path)};
  for (const Runs* runs : {&a, &b})
    for (const RunSums& run : *runs) diff.waits_known = diff.waits_known && run.waits_known;
  if (!diff.waits_known) {
    join_waiting(a);
    join_waiting(b);
  }
  diff_steps(a, b, diff);
  diff_collectives(a, b, diff);
  diff_layers(a, b, diff);
  diff_phases(a, b, diff);
  find_changed_ranks(diff);
  return diff;
}

}  // namespace lockstep::analyzer

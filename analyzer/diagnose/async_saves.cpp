#include "analyzer/diagnose/async_saves.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/account/account.h"
#include "analyzer/intervals/interval_set.h"
#include "analyzer/report/quantity.h"
#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

enum class PartOfSave : std::uint8_t { none, staging, waiting };

PartOfSave part_of_save(std::string_view name) {
  if (phase_of_range(name) != Phase::checkpoint || !name.ends_with("torch.distributed.checkpoint.async_save"))
    return PartOfSave::none;
  return name.find("waiting for ") != std::string_view::npos ? PartOfSave::waiting : PartOfSave::staging;
}

struct BlockedBySaves {
  std::int64_t all_ns = 0, staging_ns = 0, waiting_ns = 0;  // Σ over ranks
};

BlockedBySaves blocked_by_saves(const Job& job) {
  BlockedBySaves blocked;
  std::unordered_map<std::uint32_t, PartOfSave> parts;  // by name
  for (const RankTrace& rank : job.ranks) {
    std::vector<Interval> staging, waiting;
    for (const HostRange& range : rank.host_ranges) {
      if (range.kind != HostKind::other) continue;
      const auto [part, is_new] = parts.try_emplace(range.name, PartOfSave::none);
      if (is_new) part->second = part_of_save(job.strings.view(range.name));
      if (part->second == PartOfSave::none) continue;
      (part->second == PartOfSave::waiting ? waiting : staging).push_back({range.begin, range.end});
    }
    const IntervalSet all = find_phases(rank, job.strings)[Phase::checkpoint];
    const IntervalSet waits = intersect(IntervalSet::from(std::move(waiting)), all);
    const IntervalSet stages = subtract(intersect(IntervalSet::from(std::move(staging)), all), waits);
    blocked.all_ns = saturating_add(blocked.all_ns, all.measure());
    blocked.waiting_ns = saturating_add(blocked.waiting_ns, waits.measure());
    blocked.staging_ns = saturating_add(blocked.staging_ns, stages.measure());
  }
  return blocked;
}

// Of the time in checkpoints: what is shorter is not worth waiting less for.
bool waits_much(const BlockedBySaves& blocked) {
  constexpr std::int64_t kWaiting = 10;  // a tenth
  return kWaiting * blocked.waiting_ns >= blocked.all_ns;
}

std::string what_blocks(const BlockedBySaves& blocked) {
  std::vector<std::string> parts;
  if (blocked.staging_ns > 0)
    parts.push_back(fmt::format(
        "{} of the time in checkpoints is `async_save` itself, which copies the state first (staging)",
        format_share(blocked.staging_ns, blocked.all_ns)));
  if (blocked.waiting_ns > 0)
    parts.push_back(fmt::format("{}{} is waiting for one to end",
                                format_share(blocked.waiting_ns, blocked.all_ns),
                                parts.empty() ? " of the time in checkpoints" : ""));
  return fmt::format("{}", fmt::join(parts, ", and "));
}

std::string remedy_of_saves(const BlockedBySaves& blocked, bool on_cpu) {
  std::string remedy =
      waits_much(blocked)
          ? "save less often, or to a faster place, so that a save ends before it is waited for; "
            "`async_save(async_checkpointer_type=AsyncCheckpointerType.PROCESS)` writes in a process of its own"
          : "save less often: each `async_save` copies the state before training goes on";
  if (!on_cpu)
    remedy +=
        "; `async_stager=DefaultStager(StagingOptions())` copies through pinned memory, beside training";
  return remedy;
}

}  // namespace

void say_what_blocks_of_async_saves(const FindingContext& context, Finding& finding) {
  const BlockedBySaves blocked = blocked_by_saves(context.diagnosis.job);
  const std::int64_t in_saves = saturating_add(blocked.staging_ns, blocked.waiting_ns);
  if (in_saves == 0 || in_saves < blocked.all_ns - in_saves) return;
  finding.evidence.push_back("they are saved in the background already: " + what_blocks(blocked));
  finding.remedy = remedy_of_saves(blocked, context.on_cpu);
}

}  // namespace lockstep::analyzer

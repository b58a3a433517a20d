#include "analyzer/import/run/losses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "analyzer/import/rank/rank_import.h"

namespace lockstep::analyzer::run {

Losses losses_of(const trace::Reader& reader, const std::vector<trace::Drop>& drops) {
  struct Gaps {
    std::uint64_t count = 0;
    double seconds = 0;
  };
  Losses losses;
  std::map<std::string, std::uint64_t> reasons;
  std::map<std::string, Gaps> gap_reasons;
  for (const trace::Drop& drop : drops) {
    const std::string reason = fmt::format("{}: {}", reader.string(drop.source), reader.string(drop.reason));
    if (drop.count != 0) {
      losses.events += drop.count;
      reasons[reason] += drop.count;
      continue;
    }
    // A damaged or malicious file may hold any times.
    const TimeSpan span{std::clamp(drop.begin, -kLatest, kLatest), std::clamp(drop.end, -kLatest, kLatest)};
    if (span.begin > span.end) continue;
    if (reader.string(drop.source) == "control") {
      if (span.begin < span.end) losses.on_purpose.push_back(span);
      continue;
    }
    losses.gaps.push_back(span);
    ++gap_reasons[reason].count;
    gap_reasons[reason].seconds += static_cast<double>(span.end - span.begin) * 1e-9;
  }
  std::sort(losses.on_purpose.begin(), losses.on_purpose.end(),
            [](const TimeSpan& a, const TimeSpan& b) { return a.begin < b.begin; });
  std::vector<std::string> parts;
  parts.reserve(reasons.size());
  for (const auto& [reason, count] : reasons) parts.push_back(fmt::format("{} ({})", reason, count));
  losses.reasons = fmt::format("{}", fmt::join(parts, "; "));
  parts.clear();
  for (const auto& [reason, gaps] : gap_reasons)
    parts.push_back(fmt::format("{} ({}, {:.3f} s)", reason,
                                gaps.count == 1 ? "once" : fmt::format("{} times", gaps.count),
                                gaps.seconds));
  losses.gap_reasons = fmt::format("{}", fmt::join(parts, "; "));
  return losses;
}

}  // namespace lockstep::analyzer::run

#include "analyzer/diagnose/long_phase.h"

#include <fmt/format.h>

#include <utility>

#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

// Less is not worth a setting, whatever its share: short runs are mostly start-up.
constexpr std::int64_t kLong = 60'000'000'000;
constexpr std::int64_t kMuchOfRun = 10;  // one part of so many

}  // namespace

bool add_long_phase(const FindingContext& context, const FindingKind& kind, std::int64_t ns,
                    std::string_view remedy, std::vector<Finding>& findings) {
  const AccountReport& account = context.report.account;
  const auto ranks = static_cast<std::int64_t>(account.ranks.size());
  if (ns / ranks < kLong || ns < account.recorded_ns() / kMuchOfRun) return false;
  Finding finding = kind.make();
  finding.title =
      fmt::format("{}: {} of {}", kind.title, format_duration(ns / ranks), format_duration(account.wall_ns));
  finding.remedy = remedy;
  finding.lost_ns = ns;
  findings.push_back(std::move(finding));
  return true;
}

}  // namespace lockstep::analyzer

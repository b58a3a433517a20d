// Findings about communication that compute could hide.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/diagnose/buckets.h"
#include "analyzer/diagnose/finding_rules.h"
#include "analyzer/diagnose/knobs.h"
#include "analyzer/intervals/time_math.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr std::int64_t kOverlapPermille = 50;
constexpr std::int64_t kBucketPermille = 30;
constexpr double kNoOverlap = 0.01;
constexpr std::int64_t kMebibyte = 1 << 20;
constexpr std::int64_t kFewBuckets = 2;
constexpr std::int64_t kManyBuckets = 16;
constexpr std::int64_t kGoodBuckets =
    8;  // enough that the last one's tail is short, few enough that latency is not felt
constexpr double kLateFirstStart = 0.7;  // backward begins at about a third

// Σ over ranks of exposed transfer that compute of the same rank could cover. Waiting is not cured by
// overlap.
std::int64_t coverable_transfer(const Report& report) {
  std::int64_t sum = 0;
  for (const RankReport& rank : report.ranks) {
    const Measures& measures = rank.measures;
    if (!measures.known) continue;
    sum = saturating_add(sum, std::min(measures.partition[Cause::transfer], measures.compute_alone_ns()));
  }
  return sum;
}

std::int64_t whole_mebibytes(double bytes) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::llround(bytes / kMebibyte)));
}

std::string describe_buckets(const BucketSteps& buckets) {
  return fmt::format("{} a step, {} each, {} in all (medians of {})",
                     format_plural(buckets.per_step, "all_reduce"), format_bytes(buckets.bucket_bytes),
                     format_bytes(buckets.bytes_per_step),
                     format_plural(static_cast<std::int64_t>(buckets.steps), "step"));
}

void find_large_buckets(const FindingContext& context, const BucketSteps& buckets,
                        std::vector<Finding>& findings) {
  if (buckets.per_step > kFewBuckets || buckets.bucket_bytes < 2 * kMebibyte) return;
  const std::int64_t lost = std::min(coverable_transfer(context.report), buckets.transfer_ns);
  if (!context.is_worth(lost, kOverlapPermille)) return;
  Finding finding;
  finding.code = "buckets_too_large";
  finding.title = "gradients travel in so few pieces that backward cannot hide them";
  finding.evidence = {
      describe_buckets(buckets),
      fmt::format("{} of transfer is exposed that compute could cover", format_duration(lost))};
  finding.remedy = bucket_size_knobs(
      whole_mebibytes(static_cast<double>(buckets.bytes_per_step) / kGoodBuckets), buckets.data_type);
  finding.lost_ns = lost;
  findings.push_back(std::move(finding));
}

void find_small_buckets(const FindingContext& context, const BucketSteps& buckets,
                        std::vector<Finding>& findings) {
  if (buckets.per_step < kManyBuckets || !buckets.latency_ns) return;
  const double latency = *buckets.latency_ns;
  const double transfer = static_cast<double>(buckets.bucket_bytes) / *buckets.bytes_per_ns;
  if (latency < transfer) return;
  const double saved_a_step = latency * static_cast<double>(buckets.per_step - kGoodBuckets);
  const double saved = saved_a_step * static_cast<double>(buckets.steps * context.report.ranks.size());
  const auto lost =
      static_cast<std::int64_t>(std::min(saved, static_cast<double>(context.total(Cause::transfer))));
  if (!context.is_worth(lost, kBucketPermille)) return;
  Finding finding;
  finding.code = "buckets_too_small";
  finding.title = "gradients travel in so many pieces that starting them takes longer than moving them";
  finding.evidence = {
      describe_buckets(buckets),
      fmt::format("starting one costs {}, moving {} costs {} (through the smallest and the largest size)",
                  format_duration(std::llround(latency)), format_bytes(buckets.bucket_bytes),
                  format_duration(std::llround(transfer)))};
  finding.remedy =
      bucket_size_knobs(whole_mebibytes(std::max(static_cast<double>(buckets.bytes_per_step) / kGoodBuckets,
                                                 4 * latency * *buckets.bytes_per_ns)),
                        buckets.data_type);
  finding.lost_ns = lost;
  findings.push_back(std::move(finding));
}

void find_late_first_bucket(const FindingContext& context, const BucketSteps& buckets,
                            std::vector<Finding>& findings) {
  if (buckets.per_step <= kFewBuckets || buckets.first_bytes < buckets.bucket_bytes) return;
  if (buckets.first_bytes < 2 * kMebibyte || buckets.first_start < kLateFirstStart) return;
  const std::int64_t lost = std::min(coverable_transfer(context.report), buckets.first_transfer_ns);
  if (!context.is_worth(lost, kBucketPermille)) return;
  Finding finding;
  finding.code = "first_bucket_late";
  finding.title = "the first gradient bucket is large, so that communication starts late in backward";
  finding.evidence = {
      describe_buckets(buckets),
      fmt::format("the first one holds {} and starts after {} of the time until the last one starts",
                  format_bytes(buckets.first_bytes), format_share(buckets.first_start))};
  finding.remedy =
      "torch.distributed._DEFAULT_FIRST_BUCKET_BYTES = 1 << 20 before wrapping the model, `lockstep train "
      "--first-bucket-mb 1`; DeepSpeed has no first bucket of its own: a smaller reduce_bucket_size";
  finding.lost_ns = lost;
  findings.push_back(std::move(finding));
}

bool has(const std::vector<Finding>& findings, const char* code) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& finding) { return finding.code == code; });
}

}  // namespace

void find_bucket_sizes(const FindingContext& context, std::vector<Finding>& findings) {
  const std::optional<BucketSteps> buckets = look_at_buckets(context.report);
  // Other operations move as much: then the buckets are not what is exposed.
  if (!buckets || buckets->transfer_ns < buckets->all_transfer_ns - buckets->all_transfer_ns / 4) return;
  find_large_buckets(context, *buckets, findings);
  find_small_buckets(context, *buckets, findings);
  find_late_first_bucket(context, *buckets, findings);
}

void find_lack_of_overlap(const FindingContext& context, std::vector<Finding>& findings) {
  // These say the same, and what to do.
  if (has(findings, "buckets_too_large") || has(findings, "prefetch_off")) return;
  std::int64_t communication = 0, overlap = 0;
  for (const RankReport& rank : context.report.ranks) {
    if (!rank.measures.known) continue;
    communication = saturating_add(communication, rank.measures.communication_ns);
    overlap = saturating_add(overlap, rank.measures.overlap_ns);
  }
  const std::int64_t lost = coverable_transfer(context.report);
  if (communication == 0 || context.report.ranks.size() < 2) return;
  // Waiting for ranks without a record would look like transfer, and isn't cured by overlap.
  if (transfer_totals(context.report).mostly_doubtful()) return;
  if (static_cast<double>(overlap) > kNoOverlap * static_cast<double>(communication)) return;
  if (!context.is_worth(lost, kOverlapPermille)) return;
  Finding finding;
  finding.code = "no_overlap";
  finding.title = "communication and compute take turns: nothing is hidden";
  finding.evidence = {
      fmt::format("compute covers {} of {} of communication ({})", format_duration(overlap),
                  format_duration(communication), format_share(overlap, communication)),
      fmt::format("{} of transfer is exposed that compute could cover", format_duration(lost))};
  const std::string knobs = overlap_knobs(context.report);
  finding.remedy = "start collectives before their result is needed: " + knobs + (knobs.empty() ? "" : "; ") +
                   "async_op=True with wait() at the first use";
  finding.lost_ns = lost;
  findings.push_back(std::move(finding));
}

}  // namespace lockstep::analyzer
